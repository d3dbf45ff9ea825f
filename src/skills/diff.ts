import { sha256Hex } from '../kernel/crypto'
import { clean } from '../kernel/text'
import { scanForInjection } from '../text'
import type { SkillManifest } from './manifest'

type DiffLine = {
  sign: ' ' | '+' | '-'
  /** Line number in the new text; in the old text for removed lines. */
  number: number
  text: string
  /** Whether the injection scan marked the line, so that reviewers read it with care. */
  suspicious: boolean
}
type DiffPart = { path: string; lines: DiffLine[] }
export type ManifestDiff = { parts: DiffPart[]; added: number; removed: number; sha: string }

/** Unchanged lines shown before and after each change. */
const CONTEXT = 2
/** Largest comparison table. Beyond it only the common start and end are matched, which takes linear time. */
const MOST_CELLS = 4_000_000

/** The changes of a version against the live one (null for a new skill), per manifest member. `sha` names this diff. */
export function diffManifests(before: SkillManifest | null, after: SkillManifest): ManifestDiff {
  const [old, next] = [before ? textsOf(before) : new Map<string, string>(), textsOf(after)]
  const parts = [...new Set([...next.keys(), ...old.keys()])].flatMap((path) => {
    const lines = diffLines(old.get(path) ?? '', next.get(path) ?? '')
    return lines.some(({ sign }) => sign !== ' ') ? [{ path, lines: nearChanges(lines) }] : []
  })
  const count = (sign: '+' | '-') =>
    parts.reduce((sum, { lines }) => sum + lines.filter((line) => line.sign === sign).length, 0)
  return {
    parts,
    added: count('+'),
    removed: count('-'),
    sha: sha256Hex(JSON.stringify([...next, ...old])).slice(0, 16),
  }
}

/** A manifest as texts by path: strings unchanged, other members as JSON. */
function textsOf({ tools, knowledgeFiles, ...rest }: SkillManifest): Map<string, string> {
  const texts = new Map<string, string>()
  for (const [name, value] of Object.entries(rest)) texts.set(name, typeof value === 'string' ? value : pretty(value))
  for (const tool of tools) texts.set(`tools.${tool.name}`, pretty(tool))
  for (const [path, text] of Object.entries(knowledgeFiles)) texts.set(`knowledgeFiles.${path}`, text)
  return texts
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? ''

function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before ? before.split('\n') : [], after ? after.split('\n') : []]
  const marked = new Set(scanForInjection(after).map(({ line }) => line))
  const line = (sign: DiffLine['sign'], at: number, text: string): DiffLine => ({
    sign,
    number: at + 1,
    text: clean(text),
    suspicious: sign !== '-' && marked.has(at + 1),
  })
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const middle = compare(a.slice(start, a.length - end), b.slice(start, b.length - end))
  return [
    ...b.slice(0, start).map((text, at) => line(' ', at, text)),
    ...middle.map(({ sign, at }) => line(sign, at + start, (sign === '-' ? a : b)[at + start]!)),
    ...b.slice(b.length - end).map((text, at) => line(' ', b.length - end + at, text)),
  ]
}

type Step = { sign: DiffLine['sign']; at: number }

/** Compares by the longest common subsequence of lines. */
function compare(a: readonly string[], b: readonly string[]): Step[] {
  const all = (sign: '-' | '+', lines: readonly string[]): Step[] => lines.map((_, at) => ({ sign, at }))
  if (a.length * b.length > MOST_CELLS) return [...all('-', a), ...all('+', b)]
  const width = b.length + 1
  const longest = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] =
        a[i] === b[j]
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!)
    }
  }
  const steps: Step[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      steps.push({ sign: ' ', at: j })
      i++
      j++
    } else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) steps.push({ sign: '-', at: i++ })
    else steps.push({ sign: '+', at: j++ })
  }
  while (i < a.length) steps.push({ sign: '-', at: i++ })
  while (j < b.length) steps.push({ sign: '+', at: j++ })
  return steps
}

function nearChanges(lines: readonly DiffLine[]): DiffLine[] {
  const changed = lines.flatMap(({ sign }, at) => (sign === ' ' ? [] : [at]))
  const near = new Set(
    changed.flatMap((at) => Array.from({ length: CONTEXT * 2 + 1 }, (_, step) => at + step - CONTEXT)),
  )
  return lines.filter((_, at) => near.has(at))
}
