import { vendorNamedIn } from '../vendors/names'

/** Vendor names that a pattern is tested with. */
const TRIED = ['openai', 'chatgpt', 'anthropic', 'claude', 'gemini', 'mistral', 'deepseek', 'llama', 'cohere', 'grok']

/** Share of a name's letters that a pattern must require to count as naming the vendor. */
const INSISTENT = 0.7

/**
 * The upstream vendor that a pattern names, whether in plain words, in classes and groups, or by character codes.
 * Null when it names none; a pattern that matches other words as well names none (K10).
 */
export function vendorMeantBy(source: string, test: (text: string) => boolean): string | null {
  return vendorNamedIn(plainly(source)) ?? TRIED.find((name) => insistsOn(name, test)) ?? null
}

function insistsOn(name: string, test: (text: string) => boolean): boolean {
  // A pattern that matches a shorter word inside the name, such as `lama`, means that word.
  if (!test(name) || test(name.slice(1)) || test(name.slice(0, -1))) return false
  const needed = [...name].filter((_, index) => !test(`${name.slice(0, index)}~${name.slice(index + 1)}`))
  const others = [...name].filter((_, index) => !test(`${name.slice(0, index)}x${name.slice(index + 1)}`))
  return Math.min(needed.length, others.length) / name.length >= INSISTENT
}

/** The text of a pattern without its syntax: `\bop[e]n(?:ai)\b` becomes `openai`, `a|b` two separate words. */
function plainly(source: string): string {
  return source
    .replace(/\\u\{([0-9a-f]{1,6})\}|\\[xu]([0-9a-f]{4}|[0-9a-f]{2})/gi, (_, braced, plain) => letter(braced ?? plain))
    .replace(/\[([^\]\\^-])\]/g, '$1')
    .replace(/\\[bB]|[\^$]/g, ' ')
    .replace(/\\[sSWwdD][*+?]?/g, ' ')
    .replace(/\(\?(?:[:=!]|<[=!]|<\w*>)|\(|\)/g, '')
    .replaceAll('|', ' |||| ')
}

function letter(hex: string): string {
  const code = Number.parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : ' '
}
