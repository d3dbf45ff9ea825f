import { join } from 'node:path'
import { parse } from '@babel/parser'

const ROOT = join(import.meta.dir, '../..')

/** A regular expression of the server, and where it is written. */
export type Pattern = { file: string; line: number; source: string; flags: string }

type Node = {
  type?: string
  loc?: { start: { line: number } }
  pattern?: string
  flags?: string
  callee?: Node
  name?: string
}

/** The literals in `src`, and the places where an expression is made of parts. */
export async function written(): Promise<{ literals: Pattern[]; made: { file: string; line: number }[] }> {
  const literals: Pattern[] = []
  const made: { file: string; line: number }[] = []
  for await (const file of new Bun.Glob('src/**/*.{ts,tsx}').scan(ROOT)) {
    const visit = (node: Node): void => {
      const line = node.loc?.start.line ?? 0
      if (node.type === 'RegExpLiteral') literals.push({ file, line, source: node.pattern!, flags: node.flags! })
      if (/^(?:New|Call)Expression$/.test(node.type ?? '') && node.callee?.name === 'RegExp') made.push({ file, line })
      for (const [name, part] of Object.entries(node)) {
        if (name !== 'loc' && typeof part === 'object' && part !== null) visit(part as Node)
      }
    }
    const text = await Bun.file(join(ROOT, file)).text()
    const plugins = file.endsWith('x') ? (['typescript', 'jsx'] as const) : (['typescript'] as const)
    visit(parse(text, { sourceType: 'module', plugins: [...plugins], attachComment: false }).program as unknown as Node)
  }
  return { literals, made }
}
