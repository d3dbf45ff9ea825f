import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One labelled text. `line` is the number of the corpus line it was made from. Variants of a line share it. */
export type Labelled<Label extends string> = {
  text: string
  label: Label
  language: string
  hard: boolean
  line: number
}

type Heading<Label extends string> = Pick<Labelled<Label>, 'label' | 'language' | 'hard'>

const HEADING = /^\[(\w+) (\w+)( hard)?\]$/
const CHOICE = /\{([^{}|]*\|[^{}]*)\}/g

/**
 * Reads the `.txt` files of a folder: a heading `[language label]` or `[language label hard]`, then one text per line.
 * `{a|b}` in a line stands for either option. Each option is used at least `mixes` times.
 * @throws Error when a heading has an unknown label. Null for `labels` accepts any word.
 */
export function readCorpus<Label extends string>(
  folder: string,
  labels: readonly Label[] | null,
  mixes = 1,
): Labelled<Label>[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.txt'))
  const all: Labelled<Label>[] = []
  let line = 0
  let heading: Heading<Label> | null = null
  for (const row of files.sort().flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))) {
    if (!row.trim()) continue
    const named = HEADING.exec(row)
    if (named) {
      heading = headingOf(named, labels)
    } else if (heading) {
      line++
      for (const text of variantsOf(row, mixes)) all.push({ ...heading, text, line })
    }
  }
  return all
}

function headingOf<Label extends string>(
  [row, language = '', word, hard]: RegExpExecArray,
  labels: readonly Label[] | null,
): Heading<Label> {
  const label = labels ? labels.find((one) => one === word) : (word as Label)
  if (!label) throw new Error(`${row}: no such label`)
  return { language, label, hard: hard !== undefined }
}

/**
 * Makes `mixes` variants per option of the longest choice, so that every option occurs. Several choices in a line are
 * shifted against each other, to mix their options.
 */
function variantsOf(row: string, mixes: number): string[] {
  const longest = Math.max(1, ...[...row.matchAll(CHOICE)].map(([, inner]) => inner!.split('|').length))
  const variants = Array.from({ length: longest * mixes }, (_, index) => {
    let group = 0
    const filled = row.replace(CHOICE, (_, inner: string) => {
      const choices = inner.split('|')
      return choices[(index + Math.floor(index / choices.length) + group++) % choices.length]!
    })
    return filled
      .replace(/\s+/g, ' ')
      .replace(/ ([,:])/g, '$1')
      .trim()
  })
  return [...new Set(variants)]
}

/** A text and its writer. */
export type Written<Label extends string> = Labelled<Label> & { writer: string }

/**
 * Reads the `.jsonl` files of a folder, one per writer. A line is an object with `text`, `label`, `lang` and `hard`.
 * @throws Error when a line has an unknown label.
 */
export function readWriters<Label extends string>(folder: string, labels: readonly Label[]): Written<Label>[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
  return files.sort().flatMap((name) => {
    const rows = readFileSync(join(folder, name), 'utf8').trim().split('\n')
    return rows.map((row, line) => {
      const { text, label, lang, hard = false } = JSON.parse(row) as Record<string, string> & { hard?: boolean }
      const known = labels.find((one) => one === label)
      if (!known) throw new Error(`${name}, line ${line + 1}: no such label`)
      return { text: text!, label: known, language: lang!, hard, line, writer: name.replace('.jsonl', '') }
    })
  })
}
