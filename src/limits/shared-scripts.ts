/**
 * The exact log of a window in Redis: a sorted set of `id:weight` by the time of Redis, so that nodes whose clocks differ
 * agree, and beside it the sum of the weights. A sum that was evicted is added up again.
 */
const LOG = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local function weightOf(member) return tonumber(string.match(member, ':(%d+)$')) end
local function used(log, total)
  local sum = tonumber(redis.call('GET', total) or '')
  local gone = redis.call('ZRANGEBYSCORE', log, '-inf', now - 60000)
  if #gone > 0 then redis.call('ZREMRANGEBYSCORE', log, '-inf', now - 60000) end
  if sum == nil then
    sum = 0
    for _, member in ipairs(redis.call('ZRANGE', log, 0, -1)) do sum = sum + weightOf(member) end
  else
    for _, member in ipairs(gone) do sum = sum - weightOf(member) end
  end
  if redis.call('EXISTS', log) == 0 then sum = 0 end
  return sum
end
local function reset(log)
  local newest = redis.call('ZRANGE', log, -1, -1, 'WITHSCORES')
  return newest[2] and math.ceil(newest[2] + 60000 - now) or 0
end
local function keep(log, total, sum)
  redis.call('SET', total, sum, 'PX', 61000)
  redis.call('PEXPIRE', log, 61000)
end
`

/**
 * Keys: log and sum of the window, then of those that are only read. Values: limit, weight, id. Returns whether it was
 * taken, milliseconds until it fits (-1: never), then used and reset of each window. An id that is there was taken: a
 * node whose answer was lost asks again through another.
 */
const TAKE = `${LOG}
local limit, weight, member = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] .. ':' .. ARGV[2]
local sum = used(KEYS[1], KEYS[2])
local taken, wait = 1, 0
if redis.call('ZSCORE', KEYS[1], member) then
  taken = 1
elseif sum + weight > limit then
  taken, wait = 0, -1
  if weight <= limit then
    local excess = sum + weight - limit
    local entries = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
    for at = 1, #entries, 2 do
      excess = excess - weightOf(entries[at])
      if excess <= 0 then
        wait = math.max(1, math.ceil(entries[at + 1] + 60000 - now))
        break
      end
    end
  end
else
  sum = sum + weight
  redis.call('ZADD', KEYS[1], now, member)
end
keep(KEYS[1], KEYS[2], sum)
local found = { taken, wait, sum, reset(KEYS[1]) }
for at = 3, #KEYS, 2 do
  found[#found + 1] = used(KEYS[at], KEYS[at + 1])
  keep(KEYS[at], KEYS[at + 1], found[#found])
  found[#found + 1] = reset(KEYS[at])
end
return found
`

/** Keys: log and sum of each window. Returns used and reset of each. */
const READ = `${LOG}
local found = {}
for at = 1, #KEYS, 2 do
  found[#found + 1] = used(KEYS[at], KEYS[at + 1])
  keep(KEYS[at], KEYS[at + 1], found[#found])
  found[#found + 1] = reset(KEYS[at])
end
return found
`

/** Keys: log and sum. Values: the entry as it is, as it should be, and the difference of their weights. */
const CORRECT = `
local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at then return { 0 } end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZADD', KEYS[1], at, ARGV[2])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('INCRBY', KEYS[2], ARGV[3]) end
return { 1 }
`

/** Each by its name, and how many numbers it answers about so many windows. */
export const SCRIPTS = {
  take: { text: TAKE, answers: (windows: number) => 2 + 2 * windows },
  read: { text: READ, answers: (windows: number) => 2 * windows },
  correct: { text: CORRECT, answers: () => 1 },
}
export type ScriptName = keyof typeof SCRIPTS
