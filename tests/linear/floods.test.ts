import { describe, expect, test } from 'bun:test'
import { type Question, readQuestion } from '../../src/builtin/question'
import { answerQuestion } from '../../src/builtin/skills'
import { floods, linearPass } from './floods'
import { timed } from './timed'

/**
 * How many times longer than finding the words of a text of that length a call may take; quadratic time is
 * many hundreds.
 */
const MOST_PASSES = 150

type Subject = { name: string; read: (text: string) => unknown; after?: readonly string[] }

const answered = (more: Partial<Question>) => (prompt: string) => {
  const request = { mode: more.mode ?? 'fast', messages: [{ role: 'user' as const, content: prompt }] }
  return answerQuestion({ ...readQuestion({ ...request, signal: AbortSignal.abort() } as never, 0), ...more })
}

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer' },
    mails: { type: 'array', items: { type: 'string', format: 'email' } },
    tags: { type: 'array', items: { type: 'string' } },
    due: { type: 'string', format: 'date' },
    active: { type: 'boolean' },
    kind: { enum: ['large', 'small'] },
  },
}

const SUBJECTS: Subject[] = [
  {
    name: 'the built-in engine',
    read: answered({}),
    after: ['', 'please do this: ', 'write a list of', 'Reverse the word '],
  },
  { name: 'the built-in engine, any object', read: answered({ json: true }), after: ['', 'name: '] },
  { name: 'the built-in engine, a schema', read: answered({ json: SCHEMA }), after: ['', 'tags: '] },
  ...['genui', 'code', 'domain_analysis', 'data_extraction'].map((mode) => ({
    name: `the built-in engine, ${mode}`,
    read: answered({ mode }),
    after: ['a form with '],
  })),
]

describe('a flood of one character, or of one beginning, is read in time linear in it by', () => {
  test.each(SUBJECTS)(
    '$name',
    ({ read, after = [''] }) => {
      const slow: string[] = []
      const usual = linearPass()
      for (const beginning of after) {
        for (const { name, text } of floods(beginning)) {
          if (timed(() => read(text)) < MOST_PASSES * usual) continue
          const again = Math.min(...[1, 2, 3].map(() => timed(() => read(text))))
          const passes = again / linearPass()
          if (passes > MOST_PASSES) slow.push(`${name}: ${passes.toFixed(0)} passes`)
        }
      }
      expect(slow).toEqual([])
    },
    60_000,
  )
})
