/** Colours that most colour-blind people can distinguish. A word always carries the same meaning as the colour. */
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

/** For `--ascii`: replaces our own punctuation by ASCII. Other characters stay. */
export const toAscii = (text: string): string => text.replace(/[…·→¢“”’–]/g, (sign) => ASCII[sign]!)
