/** Makes a script that names the question in its answer: ARGV[2] is the token, ARGV[1] a number of the question. */
const answering = (step: string): string => `local function step()
${step}
end
return ARGV[2] .. ' ' .. ARGV[1] .. ' ' .. step()`;

/**
 * The steps on Redis, each one script and so one atomic step (redis.io, "Scripting with Lua"). A lease is the
 * string `r:<token>` (running) or `d:<token>` (done) with an expiry; its key is KEYS[1]. Every answer is one text,
 * because clients may convert numbers. A notification that the run has ended goes to a channel. It may fail, for a user
 * who may not publish there: waiters poll.
 */
export const scripts = {
  /**
   * ARGV: number, token, ms. Answers `acquired`, `done <token>` or `running <ms left> <token>`. What none of these
   * scripts writes keeps the key in use, by a token that cannot be one.
   */
  acquire: answering(`local held = redis.pcall('GET', KEYS[1])
if type(held) == 'table' then
  if string.sub(held.err, 1, 9) == 'WRONGTYPE' then return 'running 0 (no text) (no lease)' end
  redis.call('GET', KEYS[1])
end
if not held or held == 'r:' .. ARGV[2] then
  redis.call('SET', KEYS[1], 'r:' .. ARGV[2], 'PX', ARGV[3])
  return 'acquired'
end
local state = string.sub(held, 1, 2)
local token = string.sub(held, 3)
if state == 'd:' then return 'done ' .. token end
if state ~= 'r:' then return 'running 0 ' .. held .. ' (no lease)' end
return 'running ' .. redis.call('PTTL', KEYS[1]) .. ' ' .. token`),

  /** ARGV: number, token, ms. */
  renew: answering(`if redis.call('GET', KEYS[1]) ~= 'r:' .. ARGV[2] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[3])`),

  /** ARGV: number, token, channel, ms. An expired lease that no other token has taken may be completed. */
  complete: answering(`local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 3) ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], 'd:' .. ARGV[2], 'PX', ARGV[4])
redis.pcall('PUBLISH', ARGV[3], 'done')
return 1`),

  /** ARGV: number, token, channel. */
  release: answering(`local held = redis.call('GET', KEYS[1])
if not held or string.sub(held, 3) ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
redis.pcall('PUBLISH', ARGV[3], 'released')
return 1`),
} as const;
