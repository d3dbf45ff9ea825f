import { exampleOf } from './example'
import type { Operation, Resolve } from './operations'
import answers from './recorded.json' with { type: 'json' }

/**
 * An example of what a route answers: what a server said while it was tested, shortened, and otherwise one that is made
 * from the schema. `tests/reference/record.ts` writes the file; an answer that fits no more is taken out of it.
 */
export function answerExample({ id, success }: Operation, resolve: Resolve): unknown {
  const recorded = (answers as Readonly<Record<string, unknown>>)[id]
  return recorded ?? exampleOf(success.schema!, resolve, { whole: true })
}
