import { type Call, ownerOf } from '../kernel/caller'
import type { WorkerPool } from '../kernel/worker-pool'
import { createCollectSources, type Gathering, type Memory, type Own } from './collect-sources'
import { noSources, nothingFound } from './errors'
import type { Reading } from './notes'
import type { Copies, CopiesInput, ReadingOrder } from './notes.worker.ts'
import type { Plan } from './plan'
import { toMarkdown } from './report'
import type { Depth } from './schema'
import type { Source } from './snapshots'
import { isSound, type Quotation, quotationsOf, type Snapshots, snapshotsOf } from './snapshots'
import type { Web } from './web/service'
import type { Dropped } from './write-engine'
import { type createWriteReport, EFFORT, type Turn } from './write-report'

export type ResearchQuestion = {
  prompt: string
  depth: Depth
  maxSources: number
  call: Call
  signal: AbortSignal
  memory: Memory
  guard: Gathering['guard']
  /** A text after the caller's guardrail policy. */
  guardOutput(text: string): Promise<{ text: string; withheld: boolean }>
  /** Reports the percentage done and the stage. */
  notify(percent: number, stage: string): void
}

/** The report and its consumption. */
export type Findings = {
  title: string
  summary: string
  /** Markdown with numbered citations. */
  report: string
  citations: Citation[]
  sources: Source[]
  /** Number of sources read, without copies. */
  consulted: number
  quotations: Quotation[]
  snapshots: Snapshots
  disagreements: { about: string; citations: [number, number] }[]
  dropped: Dropped[]
  warnings: string[]
  /** Whether the report was made without a language model. */
  extractive: boolean
  pages: number
  turns: Turn[]
}

/** A citation of `result_data` (docs/api.md 7). */
type Citation = { index: number; title: string; url: string | null; snippet: string; published_at: string | null }

type Deps = {
  web: Pick<Web, 'search' | 'read'>
  own: Own
  author: ReturnType<typeof createWriteReport>
  reading: WorkerPool<ReadingOrder | CopiesInput, Reading | Copies>
}

const READ_MS = 60_000

/**
 * Plans, searches, reads, takes notes, writes and verifies (docs/api.md 7). Without a language model the report
 * consists of quotations. Checks each sentence of an engine against the passages it cites. Throws 400 when nothing can
 * be read or nothing is relevant, and what engines throw.
 */
export function createRunResearch({ web, own, author, reading }: Deps) {
  const collectSources = createCollectSources({ web, own, copiesOf })
  return runResearch

  async function runResearch(question: ResearchQuestion): Promise<Findings> {
    const { maxSources: max, notify, call, signal, memory, guard, guardOutput } = question
    const turns: Turn[] = []
    notify(1, 'planning')
    const plan = await author.planned(question, turns)
    const gathered = await collectSources({
      plan,
      max,
      call,
      signal,
      memory,
      guard,
      notify: (share, stage) => notify(stage === 'searching' ? 5 + share * 10 : 15 + share * 45, stage),
    })
    const { sources, pages, problems } = gathered
    if (!sources.length) throw noSources(web.search !== null, problems)
    notify(62, 'noting')
    const { notes, copies, commanding } = await noted(plan, sources, question)
    if (!notes.length)
      throw nothingFound(
        sources.map(({ title }) => title),
        problems,
      )
    notify(72, 'writing')
    const written = await author.write({ plan, notes, titles: sources.map(({ title }) => title), question, turns })
    notify(95, 'verifying')
    const { draft, dropped, extractive, warnings } = written
    const { markdown, summary, order } = toMarkdown(draft, sources)
    const { text: report, withheld } = await guardOutput(markdown)
    const shown = withheld ? [] : order
    const snapshots = snapshotsOf(sources, shown)
    // Omits the quotations of sentences that the policy removed from the report.
    const quotations = quotationsOf(draft, sources, order).filter((one) => isSound(report, one, snapshots))
    if (report === markdown && quotations.length < quotationsOf(draft, sources, order).length)
      throw new Error('a report has quotations that are not in its sources')
    return {
      title: plan.title,
      summary: report === markdown ? summary : '',
      report,
      citations: shown.map((at, place) => {
        const { title, url, publishedAt } = sources[at]!
        const snippet = quotations.find(({ citation }) => citation === place + 1)?.quote ?? ''
        return { index: place + 1, title, url, snippet, published_at: publishedAt }
      }),
      sources,
      consulted: sources.length - copies.length,
      quotations,
      snapshots,
      disagreements: (withheld ? [] : written.disagreements).map(({ one, other, about }) => ({
        about,
        citations: [order.indexOf(one.source) + 1, order.indexOf(other.source) + 1],
      })),
      dropped,
      extractive,
      warnings: [
        ...problems,
        ...copies.map(
          ({ source, of }) => `${nameOf(sources, source)} repeats ${nameOf(sources, of)}, so it was not counted.`,
        ),
        ...commanding.map(({ source, about }) => `${nameOf(sources, source)} ${about}; that part was left out.`),
        ...warnings,
      ],
      pages,
      turns,
    }
  }

  async function copiesOf(texts: readonly string[], { call, signal }: Gathering): Promise<readonly (number | null)[]> {
    const found = await reading.run({ texts }, { timeoutMs: READ_MS, signal, who: ownerOf(call.caller) })
    return (found as Copies).copyOf
  }

  async function noted(
    { question, aspects }: Plan,
    sources: readonly Source[],
    { depth, call, signal }: ResearchQuestion,
  ): Promise<Reading> {
    const { notes: maxNotes, ofSource: maxOfSource } = EFFORT[depth]
    const texts = sources.map(({ title, text }) => ({ title, text }))
    const input = {
      question: [question, ...aspects].join('\n'),
      sources: texts,
      maxNotes,
      maxOfSource,
    }
    return (await reading.run(input, { timeoutMs: READ_MS, signal, who: ownerOf(call.caller) })) as Reading
  }
}

const nameOf = (sources: readonly Source[], at: number): string => {
  const { title, url } = sources[at]!
  return url ?? `“${title}”`
}
