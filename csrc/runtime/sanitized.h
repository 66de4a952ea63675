/* SPDX-License-Identifier: MIT
 *
 * For tests: whether this build has a sanitizer. They need address space beyond any limit, and
 * ThreadSanitizer holds signals back while a thread makes no system call. */
#ifndef MS_RUNTIME_SANITIZED_H
#define MS_RUNTIME_SANITIZED_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MS_UNDER_TSAN 1
#endif
#if __has_feature(address_sanitizer)
#define MS_UNDER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) && !defined(MS_UNDER_TSAN)
#define MS_UNDER_TSAN 1
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(MS_UNDER_ASAN)
#define MS_UNDER_ASAN 1
#endif
#ifndef MS_UNDER_TSAN
#define MS_UNDER_TSAN 0
#endif
#ifndef MS_UNDER_ASAN
#define MS_UNDER_ASAN 0
#endif

#endif
