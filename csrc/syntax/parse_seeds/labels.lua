do goto out; local x; ::mid:: x = 1; goto mid; ::out:: end
for i = 1, 3 do for j = 1, 3 do if j == 2 then goto next end end ::next:: end
repeat if a then goto cont end do local z = 1 end ::cont:: until true
goto done ::done::
