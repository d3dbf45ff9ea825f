// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { describe, expect, test } from 'bun:test'
import { createWorld } from '../../support/world'

const world = await createWorld()
const ada = await world.person()

const user = { role: 'user', content: 'hi' }
const image = (url: unknown) => ({
  role: 'user',
  content: [
    { type: 'text', text: 'x' },
    { type: 'image_url', image_url: { url } },
  ],
})

const REFUSED: [string, unknown, string, string][] = [
  ['no messages', {}, 'validation_error', '"messages" is missing.'],
  ['messages that are null', { messages: null }, 'validation_error', '"messages" is null; it must be a list.'],
  ['an empty list', { messages: [] }, 'validation_error', '"messages" is empty'],
  [
    '10,001 messages',
    { messages: Array.from({ length: 10_001 }, () => user) },
    'validation_error',
    'at most 10000 are allowed',
  ],
  ['a message of null', { messages: [null] }, 'validation_error', '"messages[0]" is null; it must be an object.'],
  ['a message that is text', { messages: ['hi'] }, 'validation_error', '"messages[0]" is "hi"; it must be an object.'],
  [
    'a role nobody has',
    { messages: [{ role: 'root', content: 'hi' }] },
    'validation_error',
    '"messages[0].role" is "root".',
  ],
  ['no role', { messages: [{ content: 'hi' }] }, 'validation_error', '"messages[0].role" is missing.'],
  [
    'a part of no kind',
    { messages: [{ role: 'user', content: [{ type: 'no' }] }] },
    'validation_error',
    '"messages[0].content[0].type" is "no". Use text, image_url, refusal, thinking or reasoning.',
  ],
  [
    'a part that does not say its kind',
    { messages: [{ role: 'user', content: [{}] }] },
    'validation_error',
    '"messages[0].content[0].type" is missing.',
  ],
  [
    'a text part without its text',
    { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
    'validation_error',
    '"messages[0].content[0].text" is missing.',
  ],
  [
    'a text part with a number',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 5 }] }] },
    'validation_error',
    '"messages[0].content[0].text" is 5; it must be a string.',
  ],
  [
    'a picture part without its address',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
    'validation_error',
    '"messages[0].content[0].image_url.url" is missing.',
  ],
  [
    'content that is an object',
    { messages: [{ role: 'user', content: {} }] },
    'validation_error',
    '"messages[0].content"',
  ],
  [
    'content that is a number',
    { messages: [{ role: 'user', content: 5 }] },
    'validation_error',
    '"messages[0].content" is 5',
  ],
  [
    'a part of another kind',
    { messages: [{ role: 'user', content: [{ type: 'audio' }] }] },
    'validation_error',
    '"messages[0].content',
  ],
  ['a picture whose address is a number', { messages: [image(5)] }, 'validation_error', '"messages[0].content'],
  ['a picture of this machine', { messages: [image('http://169.254.169.254/')] }, 'url_blocked', ''],
  [
    'only a system message',
    { messages: [{ role: 'system', content: 'x' }] },
    'empty_prompt',
    '"messages" has no user message.',
  ],
  ['only a tool message', { messages: [{ role: 'tool', content: 'x' }] }, 'empty_prompt', 'no user message'],
  ['only an assistant message', { messages: [{ role: 'assistant', content: 'x' }] }, 'empty_prompt', 'no user message'],
  ['a blank question', { messages: [{ role: 'user', content: '  ' }] }, 'empty_prompt', '"messages[0]", the last user'],
  [
    'a question that shows nothing',
    { messages: [{ role: 'user', content: '\u200b' }] },
    'empty_prompt',
    'neither text nor an image',
  ],
  [
    'a question of no parts',
    { messages: [{ role: 'user', content: [] }] },
    'empty_prompt',
    'neither text nor an image',
  ],
  [
    'a blank question after one with words',
    { messages: [user, { role: 'assistant', content: 'yes' }, { role: 'user', content: ' ' }] },
    'empty_prompt',
    '"messages[2]", the last user message, has neither text nor an image.',
  ],
  [
    'a question without content',
    { messages: [{ role: 'user' }] },
    'validation_error',
    '"messages[0].content" is missing',
  ],
  [
    'a question of null before the last one',
    { messages: [{ role: 'user', content: null }, user] },
    'validation_error',
    '"messages[0].content" is null',
  ],
  [
    'a system message without content',
    { messages: [{ role: 'system' }, user] },
    'validation_error',
    '"messages[0].content" is missing; only an assistant message can be without it.',
  ],
  [
    'a part of an answer in a question',
    { messages: [{ role: 'user', content: [{ type: 'refusal', refusal: 'no' }] }] },
    'validation_error',
    '"messages[0].content[0].type" is for assistant messages only. Use text or image_url.',
  ],
  [
    'a tool result without content',
    { messages: [user, { role: 'tool', tool_call_id: 'c' }] },
    'validation_error',
    '"messages[1].content" is missing',
  ],
  [
    'stream as a word',
    { messages: [user], stream: 'true' },
    'validation_error',
    '"stream" is "true"; it must be true or false',
  ],
  ['a temperature of 3', { messages: [user], temperature: 3 }, 'validation_error', 'it must be between 0 and 2'],
  [
    'a model that is a number',
    { messages: [user], model: 5 },
    'validation_error',
    '"model" is 5; it must be a string or null.',
  ],
  [
    'a response format nobody knows',
    { messages: [user], response_format: { type: 'xml' } },
    'validation_error',
    '"response_format.type" is "xml". Use json_schema, text or json_object.',
  ],
  [
    'a response format without its schema',
    { messages: [user], response_format: { type: 'json_schema' } },
    'validation_error',
    '"response_format.json_schema" is missing.',
  ],
  [
    'a response format whose schema lacks the schema',
    { messages: [user], response_format: { type: 'json_schema', json_schema: {} } },
    'validation_error',
    '"response_format.json_schema.schema" is missing.',
  ],
  [
    'metadata of 51 keys',
    { messages: [user], metadata: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, at])) },
    'validation_error',
    '"metadata" has 51 keys',
  ],
  [
    '21 skills',
    { messages: [user], skills: Array.from({ length: 21 }, () => 'a') },
    'validation_error',
    'at most 20 are allowed',
  ],
]

describe('POST /chat/completions refuses', () => {
  test.each(REFUSED)('%s', async (_, input, code, words) => {
    for (const stream of [undefined, true]) {
      const { status, body } = await ada.send('POST', 'chat/completions', {
        ...(stream ? { stream } : {}),
        ...(input as object),
      })
      expect(status).toBe(400)
      expect(body.error.code).toEqual(code)
      expect(body.error.type).toBe('invalid_request_error')
      expect(body.error.message).toContain(words)
    }
  })

  test('a foreign conversation with 404', async () => {
    const { status, body } = await ada.send('POST', 'chat/completions', {
      messages: [user],
      conversation_id: crypto.randomUUID(),
    })
    expect({ status, code: body.error.code }).toEqual({ status: 404, code: 'not_found' })
  })
})
