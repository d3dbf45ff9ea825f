/** Escapes that stand for their letter in sloppy patterns, and for something else in RE2. */
const SLOPPY = /\\([ACEGLMNOQTUXYZaeghijlmoqyz])/g
const OPEN_IN_CLASS = /(?<!\\)(\[\^?(?:[^\]\\]|\\.)*?)\[(?=[:=.])/g

/**
 * An ECMAScript pattern in the syntax RE2 shares with it: read with the flag `u` where that is possible, for
 * properties and code points then mean what they say, else as browsers read sloppy patterns.
 * @throws Error with half a sentence (`is no regular expression: …`) when it is none
 */
export function sharedSyntax(source: string, flags = ''): string {
  const plain = flags.replace(/[uv]/g, '')
  if (isExpression(source, `${plain}u`)) return source
  try {
    new RegExp(source, flags)
  } catch (error) {
    throw new Error(`is no regular expression: ${(error as Error).message.slice(0, 120)}`)
  }
  return source.replace(SLOPPY, '$1').replace(OPEN_IN_CLASS, '$1\\[')
}

function isExpression(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags)
    return true
  } catch {
    return false
  }
}
