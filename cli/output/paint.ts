/** Colours that stay apart for most colour-blind eyes (dx 0 M18); a word always says the same as the colour. */
const CODES = { good: '36', warn: '33', bad: '91', dim: '2', strong: '1' } as const

export type Paint = (tone: keyof typeof CODES, text: string) => string

export const paintFor = (color: boolean): Paint =>
  color ? (tone, text) => `\u001b[${CODES[tone]}m${text}\u001b[0m` : (_tone, text) => text

const ASCII: Record<string, string> = {
  '…': '...',
  '·': '.',
  '→': '->',
  '¢': 'c',
  '“': '"',
  '”': '"',
  '’': "'",
  '–': '-',
}

/** For `--ascii`: the few signs we use, in ASCII; anything else of the caller's own text stays. */
export const toAscii = (text: string): string => text.replace(/[…·→¢“”’–]/g, (sign) => ASCII[sign]!)
