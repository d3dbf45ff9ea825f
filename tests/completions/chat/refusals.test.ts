// SQLite only: chat only translates; tests/completions runs what is behind it on both.
import { type Refusal, refusals } from '../../support/refusals'
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

const REFUSED: Refusal[] = [
  ['no messages', {}, '"messages" is missing.'],
  ['messages that are null', { messages: null }, '"messages" is null; it must be a list.'],
  ['an empty list', { messages: [] }, '"messages" is empty'],
  ['10,001 messages', { messages: Array.from({ length: 10_001 }, () => user) }, 'at most 10000 are allowed'],
  ['messages that are an object', { messages: {} }, '"messages" is {}; it must be a list'],
  ['a part that is null', { messages: [{ role: 'user', content: [null] }] }, '"messages[0].content'],
  [
    'an empty question',
    { messages: [{ role: 'user', content: '' }] },
    'neither text nor an image',
    { code: 'empty_prompt' },
  ],
  ['a message of null', { messages: [null] }, '"messages[0]" is null; it must be an object.'],
  ['a message that is text', { messages: ['hi'] }, '"messages[0]" is "hi"; it must be an object.'],
  ['a role nobody has', { messages: [{ role: 'root', content: 'hi' }] }, '"messages[0].role" is "root".'],
  ['no role', { messages: [{ content: 'hi' }] }, '"messages[0].role" is missing.'],
  [
    'a part of no kind',
    { messages: [{ role: 'user', content: [{ type: 'no' }] }] },
    '"messages[0].content[0].type" is "no". Use text, input_text, output_text, image_url, input_image, image, file, input_file, document, input_audio, refusal, thinking, reasoning, redacted_thinking, tool_use or tool_result.',
  ],
  [
    'an image part without an image',
    { messages: [{ role: 'user', content: [{ type: 'image', source: {} }] }] },
    '"messages[0].content[0].image" is missing.',
  ],
  [
    'a part that does not say its kind',
    { messages: [{ role: 'user', content: [{}] }] },
    '"messages[0].content[0].type" is missing.',
  ],
  [
    'a text part without its text',
    { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
    '"messages[0].content[0].text" is missing.',
  ],
  [
    'a text part with a number',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 5 }] }] },
    '"messages[0].content[0].text" is 5; it must be a string.',
  ],
  [
    'a picture part without its address',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] },
    '"messages[0].content[0].image_url.url" is missing.',
  ],
  ['content that is an object', { messages: [{ role: 'user', content: {} }] }, '"messages[0].content"'],
  ['content that is a number', { messages: [{ role: 'user', content: 5 }] }, '"messages[0].content" is 5'],
  ['a part of another kind', { messages: [{ role: 'user', content: [{ type: 'audio' }] }] }, '"messages[0].content'],
  ['a picture whose address is a number', { messages: [image(5)] }, '"messages[0].content'],
  ['a picture of this machine', { messages: [image('http://169.254.169.254/')] }, '', { code: 'url_blocked' }],
  [
    'only a system message',
    { messages: [{ role: 'system', content: 'x' }] },
    '"messages" has no user message.',
    { code: 'empty_prompt' },
  ],
  ['only a tool message', { messages: [{ role: 'tool', content: 'x' }] }, 'no user message', { code: 'empty_prompt' }],
  [
    'only an assistant message',
    { messages: [{ role: 'assistant', content: 'x' }] },
    'no user message',
    { code: 'empty_prompt' },
  ],
  [
    'a blank question',
    { messages: [{ role: 'user', content: '  ' }] },
    '"messages[0]", the last user',
    { code: 'empty_prompt' },
  ],
  [
    'a question that shows nothing',
    { messages: [{ role: 'user', content: '\u200b' }] },
    'neither text nor an image',
    { code: 'empty_prompt' },
  ],
  [
    'a question of no parts',
    { messages: [{ role: 'user', content: [] }] },
    'neither text nor an image',
    { code: 'empty_prompt' },
  ],
  [
    'a blank question after one with words',
    { messages: [user, { role: 'assistant', content: 'yes' }, { role: 'user', content: ' ' }] },
    '"messages[2]", the last user message, has neither text nor an image.',
    { code: 'empty_prompt' },
  ],
  ['a question without content', { messages: [{ role: 'user' }] }, '"messages[0].content" is missing'],
  [
    'a question of null before the last one',
    { messages: [{ role: 'user', content: null }, user] },
    '"messages[0].content" is null',
  ],
  [
    'a system message without content',
    { messages: [{ role: 'system' }, user] },
    '"messages[0].content" is missing; only an assistant message can be without it.',
  ],
  [
    'a part of an answer in a question',
    { messages: [{ role: 'user', content: [{ type: 'refusal', refusal: 'no' }] }] },
    '"messages[0].content[0].type" is for assistant messages only. Use text or image_url.',
  ],
  [
    'a tool result without content',
    { messages: [user, { role: 'tool', tool_call_id: 'c' }] },
    '"messages[1].content" is missing',
  ],
  ...[1, 0, [], 'yes'].map(
    (stream): Refusal => [`stream as ${JSON.stringify(stream)}`, { messages: [user], stream }, '"stream" is '],
  ),
  ['stream as a word', { messages: [user], stream: 'true' }, '"stream" is "true"; it must be true or false'],
  ['a temperature of 3', { messages: [user], temperature: 3 }, 'it must be between 0 and 2'],
  ['a model that is a number', { messages: [user], model: 5 }, '"model" is 5; it must be a string or null.'],
  [
    'a response format nobody knows',
    { messages: [user], response_format: { type: 'xml' } },
    '"response_format.type" is "xml". Use json_schema, text or json_object.',
  ],
  [
    'a response format without its schema',
    { messages: [user], response_format: { type: 'json_schema' } },
    '"response_format.json_schema" is missing.',
  ],
  [
    'a response format whose schema lacks the schema',
    { messages: [user], response_format: { type: 'json_schema', json_schema: {} } },
    '"response_format.json_schema.schema" is missing.',
  ],
  [
    'metadata of 51 keys',
    { messages: [user], metadata: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, at])) },
    '"metadata" has 51 keys',
  ],
  ['21 skills', { messages: [user], skills: Array.from({ length: 21 }, () => 'a') }, 'at most 20 are allowed'],
  [
    'a conversation of nobody',
    { messages: [user], conversation_id: crypto.randomUUID() },
    'conversation',
    { status: 404, code: 'not_found' },
  ],
]

const request = { world, as: ada, request: 'POST chat/completions' }
refusals('POST /chat/completions refuses (B23, B24, P1)', request, REFUSED)
refusals('POST /chat/completions refuses before a stream begins (P2)', { ...request, body: { stream: true } }, REFUSED)
