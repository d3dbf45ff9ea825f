import { describe, expect, test } from 'bun:test'
import type { JsonSchema } from '../../../src/engines/engine'
import { effortOf } from '../../support/effort'
import { ask } from './ask'

const text = { type: 'string' }
const whole = { type: 'integer' }
const flag = { type: 'boolean' }
const day = { type: 'string', format: 'date' }
const names = { type: 'array', items: text }

const objectOf = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const fill = async (prompt: string, properties: Record<string, JsonSchema>): Promise<unknown> =>
  JSON.parse(await ask(prompt, { json: { schema: objectOf(properties) } }))

const MESSAGES: [string, Record<string, JsonSchema>, Record<string, unknown>][] = [
  [
    'Jane Doe is 34 years old and lives in Paris. Her email is jane@x.com.',
    { name: text, age: whole, city: text, email: { ...text, format: 'email' } },
    { name: 'Jane Doe', age: 34, city: 'Paris', email: 'jane@x.com' },
  ],
  [
    'My name is Ada Lovelace, I am 36, my birthday is 10 December 1815. I am married and not retired.',
    { name: text, age: whole, birthday: day, married: flag, retired: flag },
    { name: 'Ada Lovelace', age: 36, birthday: '1815-12-10', married: true, retired: false },
  ],
  [
    'Ada Lovelace, 36, born on 1815-12-10, is a mathematician.',
    { first_name: text, lastName: text, age: whole, born: day, occupation: text },
    { first_name: 'Ada', lastName: 'Lovelace', age: 36, born: '1815-12-10', occupation: 'mathematician' },
  ],
  [
    'John Smith (john@acme.io, +1 555 123 4567) ordered 3 laptops for $2,400.50 on May 2, 2026. It is shipped.',
    { customer: text, phone: text, quantity: whole, total: { type: 'number' }, date: day },
    { customer: 'John Smith', phone: '+1 555 123 4567', quantity: 3, total: 2400.5, date: '2026-05-02' },
  ],
  [
    'Alice and Bob are going to a science fair on Friday.',
    { participants: names, date: text },
    { participants: ['Alice', 'Bob'], date: 'Friday' },
  ],
  [
    'Remind me tomorrow that the backups in Frankfurt are disabled and 64 cores are free.',
    { due: day, location: text, cores: whole, backups: flag },
    { due: '2026-03-05', location: 'Frankfurt', cores: 64, backups: false },
  ],
  ['Extract the name and age from: Bob is twelve.', { name: text, age: whole }, { name: 'Bob', age: 12 }],
  [
    'Extract the person: Marie Curie won 2 Nobel prizes.',
    { person: objectOf({ fullName: text }), prizes: whole },
    { person: { fullName: 'Marie Curie' }, prizes: 2 },
  ],
]

const UNSAID: [string, Record<string, JsonSchema>, Record<string, unknown>][] = [
  ['Alice and Bob are going to a science fair.', { name: text }, { name: '' }],
  ['What is the capital of France?', { answer: text, name: text }, { answer: '', name: '' }],
  ['The order is late.', { name: text, age: whole, active: flag }, { name: '' }],
  ['She is 340.', { age: { type: 'integer', maximum: 120 } }, {}],
  ['I love it', { mood: { enum: ['good', 'bad', 'unknown'] } }, { mood: 'unknown' }],
]

describe('a JSON schema is filled from sentences', () => {
  test.each(MESSAGES)('%s', async (prompt, properties, value) => {
    expect(await fill(prompt, properties)).toEqual(value)
  })

  test.each(UNSAID)('and by nothing that is not said: %s', async (prompt, properties, value) => {
    expect(await fill(prompt, properties)).toEqual(value)
  })
})

test.each([
  ['spaces', `age 1${' '.repeat(90_000)}`],
  ['capitals', 'Ab '.repeat(30_000)],
  ['one word', 'A'.repeat(90_000)],
  ['numbers', '1 '.repeat(45_000)],
  ['little words', 'not is in at a '.repeat(6_000)],
])('a hundred fields and a long text of %s cost no time', async (_, long) => {
  const fields = Array.from({ length: 25 }, (_, at): [string, JsonSchema][] => [
    [`age_${at}_name`, text],
    [`city${at}Location`, text],
    [`n_${at}_age`, whole],
    [`is_${at}_a`, flag],
  ])
  const json = objectOf(Object.fromEntries(fields.flat()))
  expect(await effortOf(() => ask(long, { json: { schema: json } }))).toBeLessThan(1_000)
})
