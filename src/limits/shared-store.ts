import type { Live } from '../cluster'
import type { Clock } from '../kernel/clock'
import { type KeptCount, type KeptCounts, unwrittenOf } from './kept-counts'
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

type Used = { node: string; used: number }

/** Whole, and together no more than the limit. */
const shareOf = (limit: number, count: number, rank: number): number =>
  Math.floor(limit / count) + (rank < limit % count ? 1 : 0)

/** What several nodes count with, together. */
export type Shared = {
  scripts: Scripts
  live: Pick<Live, 'hear' | 'tellOthers'>
  /** Id of this process. */
  node: string
  /** Ids of the other nodes that serve, as far as this one knows. */
  known(): ReadonlySet<string>
  /** What each node let in, also of those that are gone. */
  counts: KeptCounts
}

type Deps = Shared & { clock: Clock; mine: LocalStore }

/** What came of a question: what Redis said, to this node or to another for it; else what the others let in. */
type Outcome = Pick<Answer, 'said' | 'since' | 'isOpen'> & { answers: readonly FromNode[] }

/** What other nodes let in and Redis does not know, and which of them answered. */
type Others = { apart: number; answers: readonly FromNode[] }

/** More than any limit. */
const NO_LIMIT = 1e15
/** A call that was let in without Redis is asked about for as long as it counts, and a little longer. */
const DOUBT_MS = WINDOW_MS + 2_000
/** What a take answers where Redis has forgotten since the asker last heard. */
const FORGOT = -1
/** So often it may say so of one call; more of it is no Redis to count with. */
const MAX_FORGOT = 3

/**
 * The windows of all nodes together (docs/design.md 9), exact even when a node loses Redis (docs/attacks.md I-10).
 *
 * A node that loses it has another count for it, and is asked over the database. Where none hears it, each knows what
 * it let in itself, tells the others, and takes its level of the limit. Such calls are `apart`: for as long as they
 * count, nodes that hear Redis again ask the others for them first, and so they do for all that a Redis has forgotten
 * which was started or emptied since. Of nodes that do not answer, as they are gone, the database tells what they let
 * in, but for the little that they had not written: it is taken to be as much as it may be.
 */
export function createSharedStore({ clock, scripts, live, mine, node, known, counts }: Deps): WindowStore {
  const redis = createRedisLink({ clock, scripts })
  const peers = createPeers({ live, clock, node, known, answer })
  /** What this node let in without Redis; `mine` has it too. */
  const apart = createLocalStore({ clock, windows: createMemoryWindows(clock) })
  /** Until when somebody may have let in calls that Redis does not know. */
  const doubtedUntil = new WeakMap<Window, number>()
  const elsewhere = createElsewhere({ clock, mine })
  /** What Redis was asked to take and has not answered yet; `since`: of which memory of it. */
  const underWay = new Set<{ window: Window; weight: number; since: number }>()
  let entries = 0
  /** The node that asks Redis for this one. */
  let helper = ''
  let isInformed = false
  let informing: Promise<void> | null = null

  return { take, add, view: elsewhere.view, read }

  async function take(subject: string, name: WindowName, limit: number, weight: number): Promise<Taken> {
    // A request is told its tokens too, so they come along.
    const names: WindowName[] = name === 'requests' ? [name, 'tokens'] : [name]
    const id = nextId()
    if (!isInformed) await informed()
    await redis.look()
    let isSure = isDoubtful(subject, name) && (redis.isHeard() || helper !== '')
    for (let forgot = 0; ; ) {
      // What others say is of this memory of Redis: where it forgot since then, they are asked again.
      const claim = { window: mine.windowOf(subject, name), weight, since: redis.since() }
      const others = isSure ? await othersApart(subject, name, limit) : { apart: 0, answers: [] }
      const alone = async (answers: readonly FromNode[]) => {
        const taken = await ofMyLevel(subject, name, limit, weight, answers)
        // Those who did not answer may hear Redis.
        if (taken.entry && isSure) void inRedis('take', subject, name, [NO_LIMIT, weight, id, ''])
        return taken
      }
      if (forgot > MAX_FORGOT) return alone(others.answers)
      const missing = others.apart + apartHere(subject, name)
      underWay.add(claim)
      const values = [limit - missing, weight, id, claim.since]
      const asking = ask({ script: 'take', subject, names, values, isSure }).finally(() => underWay.delete(claim))
      const { said: messages, since, isOpen, answers } = await asking
      const taken = messages?.[0]
      if (taken === FORGOT) {
        forgot += 1
        isSure = isDoubtful(subject, name)
        continue
      }
      if (messages) {
        // Redis has forgotten it again.
        if (taken && since !== redis.since()) apart.add(subject, name, weight)
        return counted({ subject, names, limit, weight, id, missing }, messages)
      }
      if (isSure || !isOpen) return alone(answers)
      doubt(subject, name)
      isSure = true
    }
  }

  /** A node that was started just now: what others let in before without Redis counts for it too. */
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

  async function counted({ subject, names, limit, weight, id, missing }: Request, messages: number[]): Promise<Taken> {
    const [name] = names as [WindowName]
    const [taken, waitMs, ...found] = messages
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

  /** Nobody hears Redis, as far as this node knows. */
  async function ofMyLevel(
    subject: string,
    name: WindowName,
    limit: number,
    weight: number,
    answers: readonly FromNode[],
  ): Promise<Taken> {
    const kept = await counts.read(subject, name, 0)
    const here = mine.view(subject, name).used
    const level = levelHere(subject, name, limit, answers, kept)
    const { entry, waitMs } = mine.take(subject, name, level, weight)
    const copy = entry && apart.add(subject, name, weight)
    if (entry) {
      doubt(subject, name)
      await counts.letIn(subject, name, weight, weight, limit)
    }
    const shown = Math.max(level, here)
    return {
      entry: entry && {
        correct: (actual) => {
          for (const each of [entry, copy]) each?.correct(actual)
        },
      },
      ...(shown > 0 ? { limit: shown, used: here } : { limit, used: limit }),
      // What fits the whole limit fits again when Redis counts again.
      waitMs: waitMs === Number.POSITIVE_INFINITY && weight <= limit ? WINDOW_MS : waitMs,
    }
  }

  /** Of all that answered; where some did not, each of them has a level, too, whether it lives or not. */
  function levelHere(
    subject: string,
    name: WindowName,
    limit: number,
    answers: readonly FromNode[],
    kept: readonly KeptCount[],
  ): number {
    const others = answers.map((each) => ({ node: each.node, used: each.own[0]! }))
    const silent = ofOthers(kept, answers).map((one) => ({ ...one, used: one.used + unwrittenOf(limit) }))
    const me = { node, used: mine.view(subject, name).used }
    const count = peers.count()
    if (answers.length < count) {
      // One more than is known: a node was started just now, or others think so. What does not divide is theirs.
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

  /** Of nodes that did not answer. */
  function ofOthers(kept: readonly KeptCount[], answers: readonly FromNode[]): KeptCount[] {
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

  /** Where the correction does not arrive, more stays counted than was used: that is the safe side. */
  async function correct({ subject, name, id, weight, entry }: Correctable, actual: number): Promise<void> {
    if (actual === weight) return
    entry.correct(actual)
    if (actual > weight) counts.add(subject, name, actual - weight, 0)
    const done = await inRedis('correct', subject, name, [`${id}:${weight}`, `${id}:${actual}`, actual - weight])
    if (!done && actual > weight) addApart(subject, name, actual - weight)
  }

  async function inRedis(script: 'take' | 'correct', subject: string, name: WindowName, values: (string | number)[]) {
    return (await ask({ script, subject, names: [name], values, isSure: true })).said !== null
  }

  function nextId(): string {
    return `${node}-${++entries}`
  }

  async function read(subject: string, names: readonly WindowName[]): Promise<View[]> {
    const { said: messages } = await ask({ script: 'read', subject, names, values: [], isSure: true })
    if (messages) elsewhere.hearAll(subject, names, messages)
    return names.map((name) => elsewhere.view(subject, name))
  }

  /** Of Redis, else of the node that asks it for this one, else of all nodes. */
  async function ask(question: Omit<Question, 'redis'>): Promise<Outcome> {
    const { script, subject, names, values } = question
    const done = script && (await redis.ask(script, subject, names, values))
    if (done) return { ...done, isOpen: false, answers: [] }
    const notice = { ...question, redis: null }
    if (helper) {
      const by = helper
      const [only] = await answersTo(notice, by)
      if (only && (only.said || only.isOpen)) return { ...only, answers: [] }
      if (helper === by) helper = ''
    }
    const answers = await answersTo(notice)
    const found = answers.find((each) => each.said) ?? answers.find((each) => each.isOpen)
    if (found) helper = found.node
    return { said: found?.said ?? null, since: found?.since ?? 0, isOpen: found?.isOpen ?? false, answers }
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
      said: done?.said ?? null,
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
    const unknown = gone.reduce((sum, one) => sum + one.apart + unwrittenOf(limit), 0)
    const apart = answers.reduce((sum, each) => sum + each.apart[0]!, unknown)
    return { apart, answers }
  }

  /** What this node let in and Redis does not know, with what it may have taken before it forgot. */
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
 * How much one node may let in of a limit that nobody counts for all, knowing what each has used: what those above the
 * level have used is theirs, and the others share the rest alike. No node goes above the level, so that together they
 * stay within the limit also where they decide at the same instant. What does not divide goes by the order of their
 * ids.
 */
export function levelOf(limit: number, node: string, nodes: readonly Used[]): number {
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
  // It has more than its level: what it has used, at most, so that it waits until enough of that is gone.
  return Math.min(limit / nodes.length, nodes.find((one) => one.node === node)?.used ?? 0)
}

/** What other nodes let in, as it was last heard. */
function createElsewhere({ clock, mine }: { clock: Clock; mine: LocalStore }) {
  const heard = new WeakMap<Window, { used: number; heardAt: number; resetAt: number }>()

  return {
    hear,
    used,
    /** Of windows of all nodes together, as pairs of what is used and when that is gone. */
    hearAll(subject: string, names: readonly WindowName[], found: readonly number[]): void {
      for (const [at, name] of names.entries()) {
        const here = mine.view(subject, name).used
        hear(mine.windowOf(subject, name), Math.max(found[2 * at]! - here, 0), found[2 * at + 1]!)
      }
    },
    /** Of all nodes together. */
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
