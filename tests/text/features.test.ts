// SQLite only: nothing here touches a database.
import { expect, test } from 'bun:test'
import { featuresOf } from '../../src/text/verdicts/features'

test('a text has the same features, each once, whatever was read before it', () => {
  const text = 'The same old words, the same old words and once more the same old words, said again and again.'
  const first = [...featuresOf(text).slots]
  expect(new Set(first).size).toBe(first.length)
  for (let round = 0; round < 40; round++) {
    featuresOf('One more short sentence. '.repeat(1_000))
    expect([...featuresOf(text).slots]).toEqual(first)
  }
})
