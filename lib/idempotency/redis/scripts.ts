/** Makes a script that returns the last of its arguments, the number of the question, and then the result of `step`. */
export const numbered = (step: string): string => `local function step()
${step}
end
return ARGV[#ARGV] .. ' ' .. step()`;

const COMPLETE = `local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 3) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], 'd:' .. ARGV[1], 'PX', ARGV[3])
redis.pcall('PUBLISH', ARGV[2], 'done')
return 1`;

/**
 * The steps on Redis, each one script and so one atomic step (redis.io, "Scripting with Lua"). A lease is the
 * string `r:<token>` (running) or `d:<token>` (done) with an expiry; its key is KEYS[1]. A notification that the run
 * has ended goes to a channel. It may fail, for a user who may not publish there: waiters poll.
 */
export const scripts = {
  /**
   * ARGV: token, ms. Returns `acquired`, `done <token>` or `running <ms left> <token>`; for what none of these
   * scripts writes, `damaged` and what it is.
   */
  acquire: numbered(`local held = redis.pcall('GET', KEYS[1])
if type(held) == 'table' then
  if string.sub(held.err, 1, 9) == 'WRONGTYPE' then return 'damaged (no text)' end
  redis.call('GET', KEYS[1])
end
if not held or held == 'r:' .. ARGV[1] then
  redis.call('SET', KEYS[1], 'r:' .. ARGV[1], 'PX', ARGV[2])
  return 'acquired'
end
local state = string.sub(held, 1, 2)
local token = string.sub(held, 3)
if state == 'd:' then return 'done ' .. token end
if state ~= 'r:' then return 'damaged ' .. held end
return 'running ' .. redis.call('PTTL', KEYS[1]) .. ' ' .. token`),

  /** ARGV: token, ms. */
  renew: numbered(`if redis.call('GET', KEYS[1]) ~= 'r:' .. ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`),

  /** ARGV: token, channel, ms. A lease that has expired, but that no other token has taken, may still be completed. */
  complete: numbered(COMPLETE),

  /**
   * The same, unless there is nothing under KEYS[2], where the response is stored: then returns `missing`. (PTTL, which
   * returns -2 then, needs no permission that the other scripts do not; EXISTS does.)
   */
  completeIfStored: numbered(`if redis.call('PTTL', KEYS[2]) == -2 then return 'missing' end
${COMPLETE}`),

  /** ARGV: token, channel. */
  release: numbered(`local held = redis.call('GET', KEYS[1])
if not held or string.sub(held, 3) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.pcall('PUBLISH', ARGV[2], 'released')
return 1`),
} as const;
