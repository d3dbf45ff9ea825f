import type { Live } from '../cluster'
import type { Clock } from '../kernel/clock'
import { maxUnwrittenOf, type NodeCount, type NodeCounts } from './node-counts'
import { type Answer, createPeers, createRedisLink, type FromNode, type Question, type Scripts } from './redis'
import {
  createLocalStore,
  createMemoryWindows,
  type Entry,
  type LocalStore,
  type Taken,
  usedBefore,
  type View,
  WINDOW_MS,
  type Window,
  type WindowName,
  type WindowStore,
} from './window'

/** A node's share of a limit. Shares are whole numbers and add up to the limit. */
const shareOf = (limit: number, count: number, rank: number): number =>
  Math.floor(limit / count) + (rank < limit % count ? 1 : 0)

/** What a node needs to count together with others. */
export type Shared = {
  scripts: Scripts
  live: Pick<Live, 'subscribe' | 'publishToOthers'>
  /** Id of this process. */
  node: string
  /** Ids of the other serving nodes that this one knows of. */
  known(): ReadonlySet<string>
  /** What each node admitted, including dead nodes. */
  counts: NodeCounts
}

type Deps = Shared & { clock: Clock; mine: LocalStore }

/** Outcome of a question: the answer of Redis, to this node or through another; else what the other nodes admitted. */
type Outcome = Pick<Answer, 'numbers' | 'since' | 'isOpen'> & { answers: readonly FromNode[] }

/** What other nodes admitted without Redis, and the answers of those that answered. */
type Others = { apart: number; answers: readonly FromNode[] }

/** Higher than any limit. */
const NO_LIMIT = 1e15
/** How long a node asks others for calls they admitted without Redis: as long as these count, and a little longer. */
const DOUBT_MS = WINDOW_MS + 2_000
/** Answer of a take if Redis has lost its data since the caller last heard from it. */
const FORGOT = -1
/** How often Redis may answer that for one call. After that the node decides without Redis. */
const MAX_FORGOT = 3

/**
 * The windows of all nodes together (docs/design.md 9), exact even when a node loses Redis (docs/attacks.md I-10).
 *
 * A node that loses Redis asks another node, over the database, to count for it. If no node reaches Redis, each node
 * tells the others what it admitted and admits up to its level of the limit. Such calls are `apart`. While they count,
 * nodes that reach Redis again ask the others for them first. They do the same for all that Redis lost in a restart or
 * flush. For nodes that do not answer, the database has what they admitted, except for a small unwritten part, which is
 * assumed to be as large as it can be.
 */
export function createSharedStore({ clock, scripts, live, mine, node, known, counts }: Deps): WindowStore {
  const redis = createRedisLink({ clock, scripts })
  const peers = createPeers({ live, clock, node, known, answer })
  /** What this node admitted without Redis. `mine` includes it. */
  const apart = createLocalStore({ clock, windows: createMemoryWindows(clock) })
  /** Until when some node may have admitted calls that Redis does not know. */
  const doubtedUntil = new WeakMap<Window, number>()
  const elsewhere = createElsewhere({ clock, mine })
  /** Takes that Redis has not answered yet. `since` is the start of the Redis data they were sent to. */
  const underWay = new Set<{ window: Window; weight: number; since: number }>()
  let entries = 0
  /** The node that asks Redis on behalf of this one. */
  let helper = ''
  let isInformed = false
  let informing: Promise<void> | null = null

  return { take, add, view: elsewhere.view, read }

  async function take(subject: string, name: WindowName, limit: number, weight: number): Promise<Taken> {
    // The headers of a request also show its tokens, so one query reads both.
    const names: WindowName[] = name === 'requests' ? [name, 'tokens'] : [name]
    const id = nextId()
    if (!isInformed) await informed()
    await redis.look()
    let isSure = isDoubtful(subject, name) && (redis.isHeard() || helper !== '')
    for (let forgot = 0; ; ) {
      // Answers of others refer to the current data of Redis. If Redis loses it, they are asked again.
      const claim = { window: mine.windowOf(subject, name), weight, since: redis.since() }
      const others = isSure ? await othersApart(subject, name, limit) : { apart: 0, answers: [] }
      const alone = async (answers: readonly FromNode[]) => {
        const taken = await ofMyLevel(subject, name, limit, weight, answers)
        // Nodes that did not answer may reach Redis.
        if (taken.entry && isSure) void inRedis('take', subject, name, [NO_LIMIT, weight, id, ''])
        return taken
      }
      if (forgot > MAX_FORGOT) return alone(others.answers)
      const missing = others.apart + apartHere(subject, name)
      underWay.add(claim)
      const values = [limit - missing, weight, id, claim.since]
      const asking = ask({ script: 'take', subject, names, values, isSure }).finally(() => underWay.delete(claim))
      const { numbers, since, isOpen, answers } = await asking
      const taken = numbers?.[0]
      if (taken === FORGOT) {
        forgot += 1
        isSure = isDoubtful(subject, name)
        continue
      }
      if (numbers) {
        // Redis took it and lost it again.
        if (taken && since !== redis.since()) apart.add(subject, name, weight)
        return counted({ subject, names, limit, weight, id, missing }, numbers)
      }
      if (isSure || !isOpen) return alone(answers)
      doubt(subject, name)
      isSure = true
    }
  }

  /** Once after the start: marks the windows to which other nodes admitted calls without Redis. */
  function informed(): Promise<void> {
    informing ??= counts.uncertain().then(
      (windows) => {
        for (const { subject, name } of windows) doubt(subject, name)
        isInformed = true
      },
      (error) => {
        informing = null
        throw error
      },
    )
    return informing
  }

  type Request = { subject: string; names: WindowName[]; limit: number; weight: number; id: string; missing: number }

  async function counted({ subject, names, limit, weight, id, missing }: Request, numbers: number[]): Promise<Taken> {
    const [name] = names as [WindowName]
    const [taken, waitMs, ...found] = numbers
    const entry = taken ? mine.add(subject, name, weight) : null
    const writing = entry && counts.letIn(subject, name, weight, 0, limit)
    found[0]! += missing
    elsewhere.hearAll(subject, names, found)
    if (writing) await writing
    const never = weight > limit ? Number.POSITIVE_INFINITY : WINDOW_MS
    return {
      entry: entry && { correct: (actual) => void correct({ subject, name, id, weight, entry }, actual) },
      limit,
      used: found[0]! - (taken ? weight : 0),
      waitMs: waitMs! < 0 ? never : Math.min(waitMs!, WINDOW_MS),
    }
  }

  /** Decides without Redis, because no node is known to reach it. */
  async function ofMyLevel(
    subject: string,
    name: WindowName,
    limit: number,
    weight: number,
    answers: readonly FromNode[],
  ): Promise<Taken> {
    const kept = await counts.read(subject, name, 0)
    const local = mine.view(subject, name).used
    const level = levelHere(subject, name, limit, answers, kept)
    const { entry, waitMs } = mine.take(subject, name, level, weight)
    const copy = entry && apart.add(subject, name, weight)
    if (entry) {
      doubt(subject, name)
      await counts.letIn(subject, name, weight, weight, limit)
    }
    const shown = Math.max(level, local)
    return {
      entry: entry && {
        correct: (actual) => {
          for (const each of [entry, copy]) each?.correct(actual)
        },
      },
      ...(shown > 0 ? { limit: shown, used: local } : { limit, used: limit }),
      // A weight within the whole limit fits again once Redis is back.
      waitMs: waitMs === Number.POSITIVE_INFINITY && weight <= limit ? WINDOW_MS : waitMs,
    }
  }

  /** This node's level. Nodes that did not answer get a level too, alive or not. */
  function levelHere(
    subject: string,
    name: WindowName,
    limit: number,
    answers: readonly FromNode[],
    kept: readonly NodeCount[],
  ): number {
    const others = answers.map((each) => ({ node: each.node, used: each.own[0]! }))
    const silent = ofOthers(kept, answers).map((one) => ({ ...one, used: one.used + maxUnwrittenOf(limit) }))
    const me = { node, used: mine.view(subject, name).used }
    const count = peers.count()
    if (answers.length < count) {
      // Nodes that did not answer and wrote no counts. They get the remainder of the division.
      const length = Math.max(count + 1 - others.length - silent.length, 0)
      const unknown = Array.from({ length }, () => ({ node: '', used: 0 }))
      return levelOf(limit, node, [...unknown, ...others, ...silent, me])
    }
    const gone = silent.reduce((sum, { used }) => sum + used, 0)
    elsewhere.hear(
      mine.windowOf(subject, name),
      others.reduce((sum, { used }) => sum + used, gone),
      WINDOW_MS,
    )
    return levelOf(Math.max(limit - gone, 0), node, [...others, me])
  }

  /** The written counts of nodes that did not answer. */
  function ofOthers(kept: readonly NodeCount[], answers: readonly FromNode[]): NodeCount[] {
    return kept.filter((one) => one.node !== node && !answers.some((each) => each.node === one.node))
  }

  function add(subject: string, name: WindowName, weight: number): void {
    mine.add(subject, name, weight)
    counts.add(subject, name, weight, 0)
    void inRedis('take', subject, name, [NO_LIMIT, weight, nextId(), '']).then((done) => {
      if (!done) addApart(subject, name, weight)
    })
  }

  function addApart(subject: string, name: WindowName, weight: number): void {
    apart.add(subject, name, weight)
    counts.add(subject, name, 0, weight)
    doubt(subject, name)
  }

  type Correctable = { subject: string; name: WindowName; id: string; weight: number; entry: Entry }

  /** If a correction downward is lost, more counts than was used, which is the safe side. */
  async function correct({ subject, name, id, weight, entry }: Correctable, actual: number): Promise<void> {
    if (actual === weight) return
    entry.correct(actual)
    if (actual > weight) counts.add(subject, name, actual - weight, 0)
    const done = await inRedis('correct', subject, name, [`${id}:${weight}`, `${id}:${actual}`, actual - weight])
    if (!done && actual > weight) addApart(subject, name, actual - weight)
  }

  async function inRedis(script: 'take' | 'correct', subject: string, name: WindowName, values: (string | number)[]) {
    return (await ask({ script, subject, names: [name], values, isSure: true })).numbers !== null
  }

  function nextId(): string {
    return `${node}-${++entries}`
  }

  async function read(subject: string, names: readonly WindowName[]): Promise<View[]> {
    const { numbers } = await ask({ script: 'read', subject, names, values: [], isSure: true })
    if (numbers) elsewhere.hearAll(subject, names, numbers)
    return names.map((name) => elsewhere.view(subject, name))
  }

  /** Asks Redis, else the node that asks Redis for this one, else all nodes. */
  async function ask(question: Omit<Question, 'redis'>): Promise<Outcome> {
    const { script, subject, names, values } = question
    const done = script && (await redis.ask(script, subject, names, values))
    if (done) return { ...done, isOpen: false, answers: [] }
    const forwarded = { ...question, redis: null }
    if (helper) {
      const by = helper
      const [only] = await answersTo(forwarded, by)
      if (only && (only.numbers || only.isOpen)) return { ...only, answers: [] }
      if (helper === by) helper = ''
    }
    const answers = await answersTo(forwarded)
    const found = answers.find((each) => each.numbers) ?? answers.find((each) => each.isOpen)
    if (found) helper = found.node
    return { numbers: found?.numbers ?? null, since: found?.since ?? 0, isOpen: found?.isOpen ?? false, answers }
  }

  async function answersTo(question: Question, by = ''): Promise<FromNode[]> {
    const answers = await peers.ask(question, by)
    for (const one of answers) if (one.redis) redis.learn(one.redis)
    return answers
  }

  async function answer({ script, subject, names, values, isSure, redis: heard }: Question): Promise<Answer> {
    if (heard) redis.learn(heard)
    await redis.look()
    const isTake = script === 'take'
    const isOpen = isTake && !isSure && redis.isHeard() && names.slice(0, 1).some((name) => isDoubtful(subject, name))
    const done = script && !isOpen ? await redis.ask(script, subject, names, values) : null
    if (isTake && !isOpen && !done) for (const name of names.slice(0, 1)) doubt(subject, name)
    return {
      numbers: done?.numbers ?? null,
      since: done?.since ?? 0,
      isOpen,
      own: names.map((name) => mine.view(subject, name).used),
      apart: names.map((name) => apartHere(subject, name)),
      redis: redis.heard(),
    }
  }

  async function othersApart(subject: string, name: WindowName, limit: number): Promise<Others> {
    const question = { script: null, subject, names: [name], values: [], isSure: true, redis: redis.heard() }
    const rememberedMs = clock.monotonic() - redis.remembersFrom()
    const [answers, kept] = await Promise.all([peers.ask(question), counts.read(subject, name, rememberedMs)])
    const gone = ofOthers(kept, answers)
    const unknown = gone.reduce((sum, one) => sum + one.apart + maxUnwrittenOf(limit), 0)
    const apart = answers.reduce((sum, each) => sum + each.apart[0]!, unknown)
    return { apart, answers }
  }

  /** What this node admitted and Redis does not know, including takes that Redis may have lost. */
  function apartHere(subject: string, name: WindowName): number {
    const [now, since, window] = [clock.monotonic(), redis.knownFrom(), mine.windowOf(subject, name)]
    const before = (store: LocalStore, end: number) => usedBefore(store.windowOf(subject, name), now, end)
    let sum = before(mine, since) + before(apart, Number.POSITIVE_INFINITY) - before(apart, since)
    for (const one of underWay) if (one.window === window && one.since !== redis.since()) sum += one.weight
    return sum
  }

  function doubt(subject: string, name: WindowName): void {
    doubtedUntil.set(mine.windowOf(subject, name), clock.monotonic() + DOUBT_MS)
  }

  function isDoubtful(subject: string, name: WindowName): boolean {
    return redis.isNew() || clock.monotonic() < (doubtedUntil.get(mine.windowOf(subject, name)) ?? 0)
  }
}

/**
 * How much one node may admit of a limit that no shared counter enforces, given what each node has used. Nodes above
 * the level keep what they have used, and the others share the rest equally. No node exceeds its level, so together
 * they stay within the limit even if they decide at the same instant. A remainder goes by the order of their ids.
 */
export function levelOf(limit: number, node: string, nodes: readonly { node: string; used: number }[]): number {
  let [rest, below] = [limit, nodes]
  for (;;) {
    const share = rest / below.length
    const above = below.filter(({ used }) => used > share)
    if (!above.length) break
    rest -= above.reduce((sum, { used }) => sum + used, 0)
    below = below.filter(({ used }) => used <= share)
  }
  const ids = below.map((one) => one.node).sort()
  if (ids.includes(node)) return shareOf(rest, below.length, ids.indexOf(node))
  // This node is above the level. It admits nothing until enough of its own entries have left the window.
  return Math.min(limit / nodes.length, nodes.find((one) => one.node === node)?.used ?? 0)
}

/** What other nodes admitted, as last heard. */
function createElsewhere({ clock, mine }: { clock: Clock; mine: LocalStore }) {
  const heard = new WeakMap<Window, { used: number; heardAt: number; resetAt: number }>()

  return {
    hear,
    used,
    /** Takes the totals of all nodes: for each window a pair of its weight and the milliseconds until it is empty. */
    hearAll(subject: string, names: readonly WindowName[], found: readonly number[]): void {
      for (const [at, name] of names.entries()) {
        const local = mine.view(subject, name).used
        hear(mine.windowOf(subject, name), Math.max(found[2 * at]! - local, 0), found[2 * at + 1]!)
      }
    },
    /** The window of all nodes together. */
    view(subject: string, name: WindowName): View {
      const here = mine.view(subject, name)
      const window = mine.windowOf(subject, name)
      const others = used(window)
      if (!others) return here
      const resetMs = Math.max(here.resetMs, heard.get(window)!.resetAt - clock.monotonic())
      return { used: here.used + others, resetMs }
    },
  }

  function hear(window: Window, used: number, resetMs: number): void {
    const heardAt = clock.monotonic()
    heard.set(window, { used, heardAt, resetAt: heardAt + Math.min(resetMs, WINDOW_MS) })
  }

  function used(window: Window): number {
    const other = heard.get(window)
    return other && clock.monotonic() < other.heardAt + WINDOW_MS ? other.used : 0
  }
}
