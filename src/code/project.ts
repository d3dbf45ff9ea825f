import { zipSync } from 'fflate'
import type { CodeBlock } from './blocks'
import { checkSyntax } from './check'
import type { CodeCheck } from './schema'

/** What the parsers say of the files of an answer. */
export const checksOf = (blocks: readonly CodeBlock[]): CodeCheck[] =>
  blocks.map(({ path, language, content }) => ({
    filename: path,
    language: language || null,
    ...checkSyntax(language, content),
  }))

/** A sentence for each file that does not parse. */
export const problemsIn = (checks: readonly CodeCheck[]): string[] =>
  checks.flatMap(({ filename, status, message, line }) =>
    status === 'error' ? [`${filename} does not parse${line === null ? '' : `, line ${line}`}: ${message}`] : [],
  )

/** Whether the files are those of one project: the answer names at least two. */
export const isProject = (blocks: readonly CodeBlock[]): boolean => blocks.filter(({ named }) => named).length > 1

/** An archive knows no earlier time. */
const FIRST_MS = Date.UTC(1980, 0, 2)

/** The files of a project as one archive, at their paths; none of them leads out of it (O1). */
export function zipOf(blocks: readonly CodeBlock[], createdAt: number): Uint8Array {
  const mtime = new Date(Math.max(createdAt, FIRST_MS))
  const files = blocks.map(
    ({ path, content }) => [path, [new TextEncoder().encode(`${content}\n`), { mtime }]] as const,
  )
  return zipSync(Object.fromEntries(files) as Parameters<typeof zipSync>[0])
}
