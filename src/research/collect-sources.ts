import type { Guard } from '../guardrails'
import { type Call, ownerOf } from '../kernel/caller'
import { sha256Hex } from '../kernel/crypto'
import { beginningOf } from '../kernel/text'
import { hostOf } from '../text'
import { WebFailure } from './errors'
import { MAX_CHARS } from './passages'
import type { Plan } from './plan'
import type { OwnText, Source } from './snapshots'
import type { Web } from './web/service'

/** An address to read, with its title if known. */
type Candidate = { url: string; title: string | null }

/** Constant of reciprocal rank fusion: an address that several searches rank high precedes one from a single search. */
const FUSION = 60

/** One site may provide this share of the sources, unless the prompt names its pages. */
const MAX_OF_HOST = 0.4

const TRACKING = /^(?:utm_\w+|gclid|fbclid|mc_[ce]id|ref|ref_src|igshid|msclkid)$/i

/** Two addresses with equal keys probably lead to the same page. */
const keyOf = (address: string): string => address.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/$/, '')

/** Keeps what was read under a name until the job ends, so that a retry continues where the previous try was killed. */
export type Memory = {
  recall(name: string): Promise<unknown>
  keep(name: string, value: object): Promise<unknown>
}

/** The caller's own texts. */
export type Own = {
  /** The caller's files with these ids. Other ids find nothing. */
  named(call: Call, ids: readonly string[], signal: AbortSignal): Promise<OwnText[]>
  /** Texts relevant to a question: files of the caller's skills, and with `files` also the caller's other files. */
  about(call: Call, question: string, wanted: { files: boolean; signal: AbortSignal }): Promise<OwnText[]>
}

type Deps = {
  web: Pick<Web, 'search' | 'read'>
  own: Own
  /** For each text, the index of the first one that it copies, or null. */
  copiesOf(texts: readonly string[], input: Gathering): Promise<readonly (number | null)[]>
}

export type Gathering = {
  plan: Plan
  max: number
  call: Call
  signal: AbortSignal
  memory: Memory
  /** The caller's policy, which checks sources before an engine reads them. */
  guard: Pick<Guard, 'hasRules' | 'checkToolData'> | null
  /** Progress of this step, from 0 to 1. */
  notify(share: number, stage: 'searching' | 'reading'): void
}

export type Gathered = {
  sources: Source[]
  /** Number of pages read by this or an earlier try, without copies of others. */
  pages: number
  /** One sentence for each failed search or read. */
  problems: string[]
}

const MIN_HITS = 10
const MAX_HITS = 20
const AT_ONCE = 4
/** Maximum number of addresses tried per wanted source. */
const TRIES = 2
const MIN_CHARS = 80

type Read = { source: Source } | { problem: string }

/** Finds and reads sources: first those that the prompt names, then search results and the caller's own texts. */
export function createCollectSources({ web, own, copiesOf }: Deps) {
  return async function collectSources(input: Gathering): Promise<Gathered> {
    const { plan, max, call, signal, notify } = input
    const problems: string[] = []
    notify(0, 'searching')
    const named = (await own.named(call, plan.artifacts, signal)).slice(0, max).map(stored)
    const searches = await searchAll(input, problems)
    const candidates = rankCandidates(plan.urls, searches, max)
    const pages = await readPages(input, candidates, max - named.length, problems)
    const distinct = pages.length - (await copiesIn(input, pages))
    const room = max - named.length - distinct
    const others = room > 0 ? await own.about(call, plan.question, { files: web.search === null, signal }) : []
    const ids = new Set(named.map(({ url }) => url))
    const further = others.map(stored).filter(({ url }) => url === null || !ids.has(url))
    return { sources: [...named, ...pages, ...further.slice(0, room)], pages: distinct, problems }
  }

  async function searchAll({ plan, max, signal, memory, notify }: Gathering, problems: string[]) {
    const { search } = web
    if (!search || !plan.queries.length) return []
    const found: Awaited<ReturnType<typeof search>>[] = []
    for (const [at, query] of plan.queries.entries()) {
      signal.throwIfAborted()
      notify(at / plan.queries.length, 'searching')
      const name = `search ${at}`
      const known = (await memory.recall(name)) as { hits: (typeof found)[number] } | null
      try {
        const hits = known?.hits ?? (await search(query, Math.min(MAX_HITS, Math.max(MIN_HITS, max)), signal))
        if (!known) await memory.keep(name, { hits })
        found.push(hits)
      } catch (error) {
        if (!(error instanceof WebFailure)) throw error
        problems.push(error.message)
      }
    }
    return found
  }

  async function readPages(input: Gathering, candidates: readonly Candidate[], max: number, problems: string[]) {
    const line = candidates.slice(0, max * TRIES)
    const read: (Source | null)[] = []
    let next = 0
    let done = 0
    let running = 0
    let wanted = max
    /** Reads while fewer sources than wanted are read or in progress, so that failures are replaced. */
    const reader = async (): Promise<void> => {
      while (next < line.length && done + running < wanted) {
        const at = next++
        running++
        const result = await readOne(input, line[at]!)
        running--
        if ('problem' in result) problems.push(result.problem)
        else {
          read[at] = result.source
          done++
          input.notify(done / Math.max(1, Math.min(max, line.length)), 'reading')
        }
      }
    }
    for (;;) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, wanted - done) }, reader))
      const found = read.filter((one) => one != null)
      if (next >= line.length || done < wanted) return found
      // A copy of another page does not count, so another page is read.
      const more = max + (await copiesIn(input, found)) - wanted
      if (more <= 0) return found
      wanted += more
    }
  }

  async function copiesIn(input: Gathering, sources: readonly Source[]): Promise<number> {
    if (sources.length < 2) return 0
    const copyOf = await copiesOf(
      sources.map(({ text }) => text),
      input,
    )
    return copyOf.filter((of) => of !== null).length
  }

  async function readOne({ call, signal, memory, guard }: Gathering, { url, title }: Candidate): Promise<Read> {
    const name = `page ${sha256Hex(url)}`
    const known = (await memory.recall(name)) as Read | null
    if (known) return known
    const read = await fetched(url, title, { signal, who: ownerOf(call.caller) })
    const result =
      'source' in read && guard?.hasRules('tool_result') ? await screened(read.source, guard, signal) : read
    await memory.keep(name, result)
    return result
  }

  async function screened(source: Source, guard: NonNullable<Gathering['guard']>, signal: AbortSignal): Promise<Read> {
    const { title, text } = source
    const { value, blocked } = await guard.checkToolData('tool_result', 'deep_research', { title, text }, signal)
    if (blocked) return { problem: `${source.url} was withheld by the guardrail ${blocked.guardrailId}.` }
    return { source: stored({ ...source, ...(value as { title: string; text: string }) }) }
  }

  async function fetched(url: string, title: string | null, by: { signal: AbortSignal; who: string }): Promise<Read> {
    try {
      const page = await web.read(url, { ...by, prose: true })
      if (page.text.length < MIN_CHARS) return { problem: `${url} has too little text.` }
      const named = page.title || title || url
      return {
        source: stored({ kind: 'web', title: named, url: page.url, text: page.text, publishedAt: page.publishedAt }),
      }
    } catch (error) {
      by.signal.throwIfAborted()
      if (error instanceof WebFailure || isRefusal(error)) {
        // The problem as one sentence with the address. Drops the advice, which is for other callers.
        const sentence = error.message.split('. ')[0]!.replace(/\.$/, '')
        const subject = SUBJECT.exec(sentence)
        return {
          problem: subject ? `${subject[1] ?? url} ${sentence.slice(subject[0].length)}.` : `${url}: ${sentence}.`,
        }
      }
      throw error
    }
  }
}

/** The address at the start of an error message. */
const SUBJECT = /^The (?:address|page|document)(?: (https?:\S+))? /

const isRefusal = (error: unknown): error is Error => (error as { code?: unknown }).code === 'url_blocked'

function stored({ kind, title, url, text: whole, publishedAt }: OwnText): Source {
  const text = beginningOf(whole, MAX_CHARS)
  return { kind, title: beginningOf(title, 300), url, text, sha256: sha256Hex(text), publishedAt }
}

/** Removes what does not change the page: fragment, tracking parameters, default ports and redundant slashes. */
export function plainAddress(address: string): string | null {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  url.hash = ''
  for (const name of [...url.searchParams.keys()]) if (TRACKING.test(name)) url.searchParams.delete(name)
  return url.href
}

/** The reading order: pages that the prompt names, then search results, with a limit per site. */
export function rankCandidates(
  named: readonly string[],
  searches: readonly (readonly { title: string; url: string }[])[],
  max: number,
): Candidate[] {
  const seen = new Set<string>()
  const first = named.flatMap((address) => {
    const url = plainAddress(address)
    if (!url || seen.has(keyOf(url))) return []
    seen.add(keyOf(url))
    return [{ url, title: null }]
  })
  const scores = new Map<string, Candidate & { score: number }>()
  for (const hits of searches) {
    for (const [place, { url: address, title }] of hits.entries()) {
      const url = plainAddress(address)
      if (!url || seen.has(keyOf(url))) continue
      const known = scores.get(keyOf(url)) ?? { url, title, score: 0 }
      scores.set(keyOf(url), { ...known, score: known.score + 1 / (FUSION + place) })
    }
  }
  const found = [...scores.values()].sort((a, b) => b.score - a.score)
  return [...first, ...withVariety(found, Math.max(2, Math.ceil(max * MAX_OF_HOST)))]
}

/** Moves results above the limit per site to the end, where they are read only if nothing else is left. */
function withVariety(found: readonly Candidate[], maxOfHost: number): Candidate[] {
  const counts = new Map<string, number>()
  const late = new Set<Candidate>()
  for (const one of found) {
    const host = hostOf(one.url) ?? ''
    const count = (counts.get(host) ?? 0) + 1
    counts.set(host, count)
    if (count > maxOfHost) late.add(one)
  }
  const plain = ({ url, title }: Candidate): Candidate => ({ url, title })
  return [...found.filter((one) => !late.has(one)), ...late].map(plain)
}
