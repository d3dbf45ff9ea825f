import type { Live } from '../cluster'
import type { Clock } from '../kernel/clock'
import { parsedJson } from '../kernel/json'
import { WINDOW_MS, type WindowName } from './window'

/**
 * The exact log of a window in Redis: a sorted set of `id:weight` by the clock of Redis, so that nodes with different
 * clocks agree, and a key with the sum of the weights. An evicted sum is computed again. One more key holds the run of
 * Redis and when its data began. If that key is missing or names another run, all earlier data is lost.
 *
 * Every script gets that key as its first key and the run as its last value. It answers when the data began, by the
 * clock of Redis and as elapsed milliseconds, and then what is described below.
 */
const LOG = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local run, since = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+)$')
if run ~= ARGV[#ARGV] then
  since = string.format('%.0f', now)
  redis.call('SET', KEYS[1], ARGV[#ARGV] .. ' ' .. since)
end
since = tonumber(since)
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
 * Keys: log and sum of the window, then those of windows that are only read. Values: limit, weight, id, and when the
 * caller believes the data began, or an empty string. Returns whether it was taken (-1: Redis lost its data, so ask
 * again), milliseconds until it fits (-1: never), then used and reset of each window. An id that exists counts as
 * taken, because a node whose answer was lost asks again through another node.
 */
const TAKE = `${LOG}
if ARGV[4] ~= '' and tonumber(ARGV[4]) ~= since then
  local found = { since, now - since, -1, 0 }
  for at = 2, #KEYS do found[#found + 1] = 0 end
  return found
end
local limit, weight, member = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] .. ':' .. ARGV[2]
local sum = used(KEYS[2], KEYS[3])
local taken, wait = 1, 0
if redis.call('ZSCORE', KEYS[2], member) then
  taken = 1
elseif sum + weight > limit then
  taken, wait = 0, -1
  if weight <= limit then
    local excess = sum + weight - limit
    local entries = redis.call('ZRANGE', KEYS[2], 0, -1, 'WITHSCORES')
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
  redis.call('ZADD', KEYS[2], now, member)
end
keep(KEYS[2], KEYS[3], sum)
local found = { since, now - since, taken, wait, sum, reset(KEYS[2]) }
for at = 4, #KEYS, 2 do
  found[#found + 1] = used(KEYS[at], KEYS[at + 1])
  keep(KEYS[at], KEYS[at + 1], found[#found])
  found[#found + 1] = reset(KEYS[at])
end
return found
`

/** Keys: log and sum of each window. Returns used and reset of each. */
const READ = `${LOG}
local found = { since, now - since }
for at = 2, #KEYS, 2 do
  found[#found + 1] = used(KEYS[at], KEYS[at + 1])
  keep(KEYS[at], KEYS[at + 1], found[#found])
  found[#found + 1] = reset(KEYS[at])
end
return found
`

/** Keys: log and sum. Values: the entry as it is, as it should be, and the difference of their weights. */
const CORRECT = `${LOG}
local at = redis.call('ZSCORE', KEYS[2], ARGV[1])
if not at then return { since, now - since, 0 } end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[2], at, ARGV[2])
if redis.call('EXISTS', KEYS[3]) == 1 then redis.call('INCRBY', KEYS[3], ARGV[3]) end
return { since, now - since, 1 }
`

/** The scripts by name. `answers` is the count of numbers that a script returns for a number of windows. */
const SCRIPTS = {
  take: { text: TAKE, answers: (windows: number) => 2 + 2 * windows },
  read: { text: READ, answers: (windows: number) => 2 * windows },
  correct: { text: CORRECT, answers: () => 1 },
}
type ScriptName = keyof typeof SCRIPTS

/** Scripts in Redis. They reject when it is unreachable or does not answer within a quarter of a second. */
export type Scripts = {
  /** Runs a Lua script on keys as one step, and parses its result with `read`. Rejects with whatever `read` throws. */
  run<T>(
    script: string,
    keys: readonly string[],
    values: readonly (string | number)[],
    read: (answer: unknown) => T,
  ): Promise<T>
  /** Id of the current run of Redis. After a restart Redis may have lost its data. */
  started(): Promise<string>
}

/** How long to wait before asking Redis again after a failure. */
const RETRY_MS = 1_000
/** When the data of Redis began, by its own clock, and how long ago that is. */
type RedisState = { since: number; forMs: number }
const SINCE = 'svc:rate:since'
/** Count of numbers that every script returns before its own answer. */
const ABOUT = 2

/** This node's link to Redis: whether it answers, and when its data began. Pauses after a failure. */
export function createRedisLink({ clock, scripts }: { clock: Clock; scripts: Scripts }) {
  let askAgainAt = 0
  let run = ''
  let since = 0
  let remembersFrom = Number.NEGATIVE_INFINITY
  let knownFrom = Number.NEGATIVE_INFINITY
  let isHeard = false
  return {
    look,
    ask,
    isHeard: () => isHeard,
    /** When its data began, by the clock of Redis. Zero until Redis has answered. */
    since: () => since,
    /** When its data began, by the monotonic clock. */
    remembersFrom: () => remembersFrom,
    /** When this node learned that. Redis has lost everything that it answered before. */
    knownFrom: () => knownFrom,
    /** What to tell other nodes; null if this node does not reach Redis. */
    heard: (): RedisState | null => (isHeard && since ? { since, forMs: clock.monotonic() - remembersFrom } : null),
    /** Takes what another node reported. */
    learn,
    /** Whether its data is younger than a window, so that it may have lost calls that still count. */
    isNew: () => clock.monotonic() < remembersFrom + WINDOW_MS,
  }

  /** Connects and reads the run. Call before the first question. */
  async function look(): Promise<void> {
    await tried(async () => {
      run = await scripts.started()
    })
  }

  function learn(heard: RedisState): void {
    if (heard.since === since) return
    since = heard.since
    knownFrom = clock.monotonic()
    remembersFrom = Math.max(remembersFrom, clock.monotonic() - heard.forMs)
  }

  /** Null if Redis does not answer, or answers with another count of numbers. */
  function ask(
    script: ScriptName,
    subject: string,
    names: readonly WindowName[],
    values: readonly (string | number)[],
  ) {
    const ofWindows = names.flatMap((name) => [`svc:rate:{${subject}}:${name}`, `svc:rate:{${subject}}:${name}:sum`])
    const { text, answers } = SCRIPTS[script]
    const before = since
    // Checks the answer, because the address may belong to something else than Redis.
    return tried(() =>
      scripts.run(text, [SINCE, ...ofWindows], [...values, run], (answer) => {
        if (
          !Array.isArray(answer) ||
          answer.length !== ABOUT + answers(names.length) ||
          !answer.every((each) => Number.isFinite(each) && each >= -1)
        )
          throw new Error('it does not run scripts as Redis does')
        const [itsSince, forMs, ...numbers] = answer as [number, number, ...number[]]
        // A late answer may be from before Redis lost its data.
        if (itsSince !== before || since === before) learn({ since: itsSince, forMs: Math.max(forMs, 0) })
        return { since: itsSince, numbers }
      }),
    )
  }

  async function tried<T>(work: () => Promise<T>): Promise<T | null> {
    if (clock.monotonic() < askAgainAt) return null
    try {
      const done = await work()
      isHeard = true
      return done
    } catch {
      isHeard = false
      askAgainAt = clock.monotonic() + RETRY_MS
      return null
    }
  }
}

/** What a node asks others to run in Redis for it. Without a script it only asks what they admitted themselves. */
export type Question = {
  script: ScriptName | null
  subject: string
  names: readonly WindowName[]
  values: readonly (string | number)[]
  /** Whether the asking node already knows what Redis does not know. */
  isSure: boolean
  /** Null if the node does not reach Redis. */
  redis: RedisState | null
}

export type Answer = {
  /** The answer of Redis and when its data began. Null if this node does not reach Redis either. */
  numbers: number[] | null
  since: number
  /** The node reaches Redis, but Redis may not know some calls, so all nodes must be asked first. */
  isOpen: boolean
  /** What the node itself admitted to each window, and the part of it that Redis does not know. */
  own: number[]
  apart: number[]
  /** Null if the node does not reach Redis. */
  redis: RedisState | null
}

export type FromNode = Answer & { node: string }

type Deps = {
  live: Pick<Live, 'subscribe' | 'publishToOthers'>
  clock: Clock
  node: string
  known(): ReadonlySet<string>
  answer(question: Question): Promise<Answer>
}

const ASK = 'rate.ask'
const ANSWER = 'rate.answer'
const PATIENCE_MS = 500
/** After a timeout, how long not to wait for answers. The question is still sent. */
const SILENCE_MS = 1_000
const MAX_WAITING = 2_000
/** How long a node that asked counts as a newcomer. Its lease is known by then. */
const NEW_MS = 5_000

/** Asks other nodes over the database, and answers their questions. */
export function createPeers({ live, clock, node, known, answer }: Deps) {
  const waiting = new Map<string, (from: FromNode) => void>()
  let requested = 0
  let waitAgainAt = 0
  /** Nodes that asked before this one knew of their lease, and until when they count. */
  const newcomers = new Map<string, number>()

  live.subscribe(ASK, '*', (heard) => {
    if (!heard || heard.id === node || (heard.by !== '' && heard.by !== node)) return
    // Every client of the database may publish on its channel.
    const read = parsedJson(String(heard.text)) as Question | null
    const isOne =
      Array.isArray(read?.names) && Array.isArray(read.values) && (read.script === null || read.script in SCRIPTS)
    const question = isOne ? read : null
    if (question && !known().has(String(heard.id))) newcomers.set(String(heard.id), clock.monotonic() + NEW_MS)
    if (question) void reply(String(heard.id), String(heard.ask), question)
  })
  live.subscribe(ANSWER, node, (heard) => {
    const answered = heard && answerIn(heard.text)
    if (answered) waiting.get(String(heard.ask))?.({ ...answered, node: String(heard.node) })
  })

  return { ask, count }

  /** How many other nodes serve. A node that just started counts from its first question on. */
  function count(): number {
    for (const [id, until] of newcomers) if (known().has(id) || clock.monotonic() > until) newcomers.delete(id)
    return known().size + newcomers.size
  }

  async function reply(to: string, ask: string, question: Question): Promise<void> {
    live.publishToOthers(ANSWER, to, { ask, node, text: JSON.stringify(await answer(question)) })
  }

  /** The answers of all other nodes, or of the node `by`. Stops waiting once one of them has asked Redis. */
  async function ask(question: Question, by = ''): Promise<FromNode[]> {
    const others = by ? 1 : count()
    if (others < 1 || waiting.size >= MAX_WAITING) return []
    const id = String(++requested)
    live.publishToOthers(ASK, node, { ask: id, by, text: JSON.stringify(question) })
    if (!by && clock.monotonic() < waitAgainAt) return []
    const { promise, resolve } = Promise.withResolvers<void>()
    const answers = new Map<string, FromNode>()
    const stop = clock.after(PATIENCE_MS, () => {
      if (!by) waitAgainAt = clock.monotonic() + SILENCE_MS
      resolve()
    })
    waiting.set(id, (from) => {
      answers.set(from.node, from)
      if (answers.size >= others || from.numbers || from.isOpen) resolve()
    })
    await promise
    stop()
    waiting.delete(id)
    return [...answers.values()]
  }
}

function answerIn(text: unknown): Answer | null {
  const read = parsedJson(String(text)) as Answer | null
  const isOne =
    isNumbers(read?.own) && isNumbers([read.since, ...read.apart]) && (read.numbers === null || isNumbers(read.numbers))
  return isOne ? read : null
}

const isNumbers = (value: unknown): value is number[] => Array.isArray(value) && value.every(Number.isFinite)
