/**
 * The server from its sources, which notes each file of `src` of which a function runs, and counts calls of
 * asynchronous functions. A line of input asks for what was noted since the last one; the answer is a line of JSON on
 * stderr.
 */

import { join } from 'node:path'
import { parse } from '@babel/parser'

const ROOT = join(import.meta.dir, '../..')
const noted = new Set<string>()
let calls = 0
Object.assign(globalThis, {
  __ran(file: string, isAsync?: true) {
    noted.add(file)
    if (isAsync) calls += 1
  },
})

type Node = { type: string; start: number; end: number; body?: Node | Node[] } & Record<string, unknown>
const FUNCTIONS = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ObjectMethod|ClassMethod)$/

/** The text with a note at the beginning of each function. */
function noting(text: string, file: string): string {
  const added: { at: number; text: string }[] = []
  const visit = (node: Node): void => {
    if (FUNCTIONS.test(node.type)) {
      const { start, end, type } = node.body as Node
      const note = `globalThis.__ran(${JSON.stringify(file)}${node.async ? ', true' : ''})`
      if (type === 'BlockStatement') added.push({ at: start + 1, text: `${note};` })
      else added.push({ at: start, text: `(${note},(` }, { at: end, text: '))' })
    }
    for (const [name, value] of Object.entries(node))
      if (name !== 'loc')
        for (const child of Array.isArray(value) ? value : [value])
          if (child !== null && typeof child === 'object' && 'type' in child) visit(child as Node)
  }
  const program = parse(text, {
    sourceType: 'module',
    plugins: ['typescript'],
    attachComment: false,
    createParenthesizedExpressions: true,
  }).program
  visit(program as never)
  return added
    .toSorted((a, b) => b.at - a.at)
    .reduce((all, one) => all.slice(0, one.at) + one.text + all.slice(one.at), text)
}

Bun.plugin({
  name: 'note-what-runs',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => ({
      loader: 'ts',
      contents: noting(await Bun.file(path).text(), path.slice(ROOT.length + 1)),
    }))
  },
})

const { serve } = await import('../../src/app/serve')
const { untilSignal } = await import('../../src/kernel/signals')
void serve({}, untilSignal())
for await (const _ of console) {
  process.stderr.write(`${JSON.stringify({ noted: [...noted], calls })}\n`)
  noted.clear()
  calls = 0
}
