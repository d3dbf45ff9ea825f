import type { PaletteCommand } from './model'

/** Commands that contain the letters of the draft in order. Commands that start with the draft come first. */
export function found(commands: readonly PaletteCommand[], draft: string): PaletteCommand[] {
  const wanted = draft.trim().toLowerCase()
  if (!wanted) return [...commands]
  return commands
    .map((command) => ({ command, score: scoreOf(command, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ command }) => command)
}

function scoreOf({ path, summary }: PaletteCommand, wanted: string): number {
  if (wanted.startsWith(`${path} `) || wanted === path) return 100 + path.length
  if (path.startsWith(wanted)) return 90
  const words = wanted.split(/\s+/)
  const parts = path.split(' ')
  if (words.every((word) => parts.some((part) => part.startsWith(word)))) return 80
  if (path.includes(wanted)) return 70
  if (inOrder(path, wanted.replaceAll(' ', ''))) return 50
  return words.every((word) => summary.toLowerCase().includes(word)) ? 30 : 0
}

function inOrder(text: string, letters: string): boolean {
  let at = 0
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1
    if (!at) return false
  }
  return true
}

/** Splits a command line into words, with the quoting of shells. */
export function wordsOf(text: string): string[] {
  return [...text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  )
}
