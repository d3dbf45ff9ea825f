import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isTextMode, type TextMode } from '../modes'

/** One labelled prompt. `line` tells which written line it came from: variants of one line belong together. */
export type Labelled = { text: string; mode: TextMode; language: string; hard: boolean; line: number }

const HEADING = /^\[(\w+) (\w+)( hard)?\]$/
const CHOICE = /\{([^{}]*\|[^{}]*)\}/g

/**
 * The labelled prompts of a folder: under a heading `[language mode]` or `[language mode hard]` one a line.
 * `{a|b}` in a line stands for either; each choice is used at least once.
 * @throws Error when a heading names no mode.
 */
export function readCorpus(folder: string): Labelled[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.txt'))
  const all: Labelled[] = []
  let line = 0
  let heading: Omit<Labelled, 'text' | 'line'> | null = null
  for (const row of files.sort().flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))) {
    if (!row.trim()) continue
    const named = HEADING.exec(row)
    if (named) {
      heading = headingOf(named)
    } else if (heading) {
      line++
      for (const text of variantsOf(row)) all.push({ ...heading, text, line })
    }
  }
  return all
}

function headingOf([row, language = '', mode, hard]: RegExpExecArray): Omit<Labelled, 'text' | 'line'> {
  if (!isTextMode(mode)) throw new Error(`${row}: no such mode`)
  return { language, mode, hard: hard !== undefined }
}

/** As many variants as the longest choice has, so that every choice occurs; different strides mix them. */
function variantsOf(row: string): string[] {
  const longest = Math.max(1, ...[...row.matchAll(CHOICE)].map(([, inner]) => inner!.split('|').length))
  const variants = Array.from({ length: longest }, (_, place) => {
    let group = 0
    const filled = row.replace(CHOICE, (_, inner: string) => {
      const choices = inner.split('|')
      return choices[(place + Math.floor(place / choices.length) + group++) % choices.length]!
    })
    return filled
      .replace(/\s+/g, ' ')
      .replace(/ ([,:])/g, '$1')
      .trim()
  })
  return [...new Set(variants)]
}
