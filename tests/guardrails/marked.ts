import { readFileSync } from 'node:fs'
import type { Match } from '../../src/guardrails/guardrail'

/** A text and the spans to be found in it. */
export type Marked = { text: string; spans: Match[]; line: string }

const MARK = /\{\{(?:(email|phone|credit_card|ssn|iban|ip_address|address|name|term):)?((?:[^}]|\}(?!\}))*)\}\}/g
const ESCAPE = /\\u\{([0-9a-f]+)\}|\\u([0-9a-f]{4})|\\(n|t|\\)/gi
const DRAWN = /<([AabhuBd])(\d+)>/g

const ALPHABETS: Record<string, string> = {
  A: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567',
  a: 'abcdefghijklmnopqrstuvwxyz0123456789',
  b: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  h: '0123456789abcdef',
  u: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
  B: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  d: '0123456789',
}

/**
 * Reads one text per line: spans to be found as `{{kind:text}}`, escapes as in source (`\n`, `\t`, `\u200b`), and
 * `<A16>` for sixteen pseudo-random characters of an alphabet, the same in every run. So no file of this repository
 * has anything that looks like a key.
 */
export function readMarked(file: string): Marked[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line, place) => marked(drawn(line, place + 1)))
}

function marked(line: string): Marked {
  const spans: Match[] = []
  let text = ''
  let from = 0
  for (const { 0: whole, 1: kind = 'secret', 2: inner, index } of line.matchAll(MARK)) {
    text += unescaped(line.slice(from, index))
    const start = text.length
    text += unescaped(inner!)
    spans.push({ start, end: text.length, kind })
    from = index + whole.length
  }
  return { text: text + unescaped(line.slice(from)), spans, line }
}

const unescaped = (text: string): string =>
  text.replace(ESCAPE, (_, long?: string, short?: string, letter?: string) => {
    const hex = long ?? short
    if (hex) return String.fromCodePoint(Number.parseInt(hex, 16))
    return letter === 'n' ? '\n' : letter === 't' ? '\t' : '\\'
  })

function drawn(line: string, seed: number): string {
  let state = Math.imul(seed, 2654435761) >>> 0
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return line.replace(DRAWN, (_, alphabet: string, length: string) =>
    Array.from({ length: Number(length) }, () => ALPHABETS[alphabet]![next(ALPHABETS[alphabet]!.length)]).join(''),
  )
}
