import { describe, expect, test } from 'bun:test'
import { ChatCompletionId, CompletionId } from '../../src/completions/schema'
import { KeyId, newRequestId } from '../../src/kernel/ids'
import { checker } from '../../src/kernel/schema'
import { ConversationId, MessageId } from '../../src/skills/conversations/schema'

const PREFIXED = [
  ['cmpl_', CompletionId],
  ['chatcmpl_', ChatCompletionId],
  ['msg_', MessageId],
] as const
const UUIDS = [
  ['keys', KeyId],
  ['conversations', ConversationId],
] as const

describe('ids (docs/api.md 1.4)', () => {
  test.each(PREFIXED)('%s ids have their prefix and 24 characters', (prefix, kind) => {
    const id = kind.create()
    expect(id.startsWith(prefix)).toBe(true)
    expect(id).toHaveLength(prefix.length + 24)
    expect(kind.is(id)).toBe(true)
    expect(checker(kind.schema).is(id)).toBe(true)
  })

  test.each(UUIDS)('ids of %s are UUIDs', (_, kind) => {
    const id = kind.create()
    expect(kind.is(id)).toBe(true)
    expect(checker(kind.schema).is(id)).toBe(true)
  })

  test.each(['', 'cmpl_', 'cmpl_short', `cmpl_${'a'.repeat(25)}`, `CMPL_${'a'.repeat(24)}`, `cmpl_${'-'.repeat(24)}`])(
    '%j is not a completion id',
    (text) => {
      expect(CompletionId.is(text)).toBe(false)
    },
  )

  test.each(['', 'nope', '00000000-0000-0000-0000-00000000000', '../../etc/passwd', "' OR 1=1 --"])(
    '%j is not a UUID',
    (text) => {
      expect(KeyId.is(text)).toBe(false)
    },
  )

  test('request ids are req_ and 24 characters, never twice', () => {
    const made = new Set(Array.from({ length: 10_000 }, newRequestId))
    expect(made.size).toBe(10_000)
    for (const id of [...made].slice(0, 100)) expect(id).toMatch(/^req_[0-9A-Za-z]{24}$/)
  })
})
