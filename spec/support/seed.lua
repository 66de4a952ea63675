-- SPDX-License-Identifier: MIT
-- The seed of random tests: a number, the same in each run of the suite, so that whether a commit
-- passes is no matter of luck. MEISSA_TEST_SEED=n chooses another one; tools/test.sh takes
-- MEISSA_TEST_SEED=random for one from the clock, which it prints, and `make fuzz` does so.
return tonumber(os.getenv "MEISSA_TEST_SEED") or 20261120
