import { sha256Hex } from '../kernel/crypto'
import type { Draft } from './report'

/** A source as it was read: a page, one of the caller's files, or a knowledge file of one of their skills. */
export type Source = {
  kind: 'web' | 'file' | 'skill'
  title: string
  /** Address of a page or a file, or null. */
  url: string | null
  /** The readable text, as stored. */
  text: string
  /** Hash of the UTF-8 bytes of the text. */
  sha256: string
  /** ISO 8601. Null when the source does not state it. */
  publishedAt: string | null
}

/** One of the caller's own texts. */
export type OwnText = Pick<Source, 'kind' | 'title' | 'url' | 'text' | 'publishedAt'>

/** The text of a source as it was read. `sha256` is the hash of its UTF-8 bytes. */
type Snapshot = { sha256: string; title: string; url: string | null; text: string }

/** The sources of a report, stored as one file, so that the report can be rechecked without them. */
export type Snapshots = { version: 1; snapshots: Snapshot[] }

/** A sentence of the report and the passage that supports it. Offsets are UTF-8 bytes of the snapshot. */
export type Quotation = {
  citation: number
  statement: string
  quote: string
  start: number
  end: number
  sha256: string
}

/** The location of each statement of a report in its sources. `order` lists the sources in numbering order. */
export function quotationsOf(draft: Draft, sources: readonly Source[], order: readonly number[]): Quotation[] {
  const blocks = [...draft.summary, ...draft.sections.flatMap((section) => section.blocks)]
  return blocks.flatMap(({ statements }) =>
    statements.flatMap(({ text, cites }) =>
      cites.map(({ source, start, end, text: quote }) => {
        const whole = sources[source]!
        const from = Buffer.byteLength(whole.text.slice(0, start))
        const bytes = { start: from, end: from + Buffer.byteLength(whole.text.slice(start, end)) }
        return { citation: order.indexOf(source) + 1, statement: text, quote, ...bytes, sha256: whole.sha256 }
      }),
    ),
  )
}

export const snapshotsOf = (sources: readonly Source[], order: readonly number[]): Snapshots => ({
  version: 1,
  snapshots: order.map((at) => {
    const { sha256, title, url, text } = sources[at]!
    return { sha256, title, url, text }
  }),
})

type Checked = { found: number; problems: string[] }
const MAX_PROBLEMS = 50

/**
 * Checks that every quotation is in its snapshot and every statement is in the report, using only these. Each changed
 * snapshot, quotation or report is a problem, in one sentence. At most 50 problems.
 */
export function checkQuotations(report: string, quotations: readonly Quotation[], { snapshots }: Snapshots): Checked {
  const known = new Map(snapshots.map((one) => [one.sha256, Buffer.from(one.text)]))
  const problems: string[] = []
  for (const { sha256, title } of snapshots) {
    if (sha256Hex(known.get(sha256)!) !== sha256)
      problems.push(`The snapshot of "${title}" was changed after it was read.`)
  }
  let found = 0
  for (const [at, one] of quotations.entries()) {
    const why = whyLost(report, one, known.get(one.sha256))
    if (why === null) found++
    else problems.push(`Quotation ${at + 1}, of source ${one.citation}: ${why}.`)
  }
  return { found, problems: problems.slice(0, MAX_PROBLEMS) }
}

/** Whether a quotation is in its snapshot, and its statement in the report. */
export const isSound = (report: string, quotation: Quotation, { snapshots }: Snapshots): boolean => {
  const snapshot = snapshots.find(({ sha256 }) => sha256 === quotation.sha256)
  return whyLost(report, quotation, snapshot && Buffer.from(snapshot.text)) === null
}

function whyLost(
  report: string,
  { statement, quote, start, end, citation }: Quotation,
  bytes: Buffer | undefined,
): string | null {
  if (!bytes) return 'its snapshot is missing'
  if (bytes.subarray(start, end).toString() !== quote) return 'its words are not at their position in the snapshot'
  const places = report.split(statement).slice(1)
  if (!places.length) return 'its statement is not in the report'
  const cites = places.some((after) => /^ ((?:\[\d+\])+)/.exec(after)?.[1]?.includes(`[${citation}]`))
  return cites ? null : 'its statement does not cite its source'
}
