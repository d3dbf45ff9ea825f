/**
 * Every match of an expression with the flag `g`. Unlike `matchAll` it makes no copy of the expression, which costs
 * several times what most looks at a text do.
 */
export function matchesOf(expression: RegExp, text: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = []
  expression.lastIndex = 0
  for (let match = expression.exec(text); match; match = expression.exec(text)) {
    found.push(match)
    if (match[0] === '') expression.lastIndex++
  }
  return found
}
