import { describe, expect, test } from 'bun:test'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()

const traits = { romantic: 1, intelligent: 1, sarcastic: 1, rude: 1, funny: 1, comedic: 1, witty: 1 }
const config = { traits, uncensored_mode: false, active_preset_id: null }
const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const MODES =
  'auto, fast, think, code, image, video, research, roast, genui, data_extraction, domain_analysis, vision, stealth_text, stealth_image or stealth_video'

/** Body members beside a good prompt, the member that is named, and words of the sentence (contract 2.1, dx 6.1). */
const REFUSED: [string, Record<string, unknown>, string, string][] = [
  ['a number as prompt', { prompt: 5 }, 'prompt', '"prompt" is 5; it must be a string.'],
  ['null as prompt', { prompt: null }, 'prompt', '"prompt" is null; it must be a string.'],
  ['an empty prompt', { prompt: '' }, 'prompt', '"prompt" is empty.'],
  ['a prompt of spaces', { prompt: '  \n' }, 'prompt', '"prompt" is missing or blank.'],
  ['a prompt that shows nothing', { prompt: '\u200b\u2060' }, 'prompt', '"prompt" is missing or blank.'],
  [
    'a prompt of 1,000,001 characters',
    { prompt: 'a'.repeat(1_000_001) },
    'prompt',
    'has 1000001 characters; at most 1000000 are allowed',
  ],
  [
    'a prompt of as many, of which each is two code units',
    { prompt: '\u{1d54f}'.repeat(1_000_001) },
    'prompt',
    'has 1000001 characters; at most 1000000 are allowed',
  ],
  ['an unknown mode', { mode: 'turbo' }, 'mode', `"mode" is "turbo". Use ${MODES}.`],
  ['a mode in capitals', { mode: 'FAST' }, 'mode', '"mode" is "FAST".'],
  ['null as mode', { mode: null }, 'mode', '"mode" is null'],
  ['stream as a word', { stream: 'true' }, 'stream', '"stream" is "true"; it must be true or false.'],
  ['stream as a number', { stream: 1 }, 'stream', '"stream" is 1; it must be true or false.'],
  [
    'a conversation id that is a number',
    { conversation_id: 5 },
    'conversation_id',
    '"conversation_id" is 5; it must be a string or null.',
  ],
  [
    'an inline conversation that is a list',
    { conversation: [] },
    'conversation',
    '"conversation" is []; it must be an object.',
  ],
  [
    'an inline conversation without messages',
    { conversation: {} },
    'conversation.messages',
    '"conversation.messages" is missing.',
  ],
  [
    '51 inline messages',
    { conversation: { messages: many(51, () => ({ role: 'user', content: 'x' })) } },
    'conversation.messages',
    'has 51 entries; at most 50 are allowed',
  ],
  [
    'an inline system message',
    { conversation: { messages: [{ role: 'system', content: 'x' }] } },
    'conversation.messages[0].role',
    'Use user or assistant.',
  ],
  [
    'an inline message without content',
    { conversation: { messages: [{ role: 'user' }] } },
    'conversation.messages[0].content',
    '"conversation.messages[0].content" is missing.',
  ],
  ['21 skills', { skills: many(21, (at) => `s${at}`) }, 'skills', 'has 21 entries; at most 20 are allowed'],
  ['skills as a word', { skills: 'one' }, 'skills', 'it must be a list'],
  ['65 tools', { tools: many(65, (at) => ({ name: `t${at}`, description: 'x' })) }, 'tools', 'at most 64 are allowed'],
  ['a tool name with a space', { tools: [{ name: 'a b', description: 'x' }] }, 'tools[0].name', 'it must be at most'],
  [
    'a tool name of 65 characters',
    { tools: [{ name: 'a'.repeat(65), description: 'x' }] },
    'tools[0].name',
    'it must be at most',
  ],
  [
    'a tool without description',
    { tools: [{ name: 'a' }] },
    'tools[0].description',
    '"tools[0].description" is missing.',
  ],
  [
    'a persona nobody knows',
    { persona: 'admin' },
    'persona',
    '"persona" is "admin"; it must be "svc", "none" or an object.',
  ],
  ['a persona that is a number', { persona: 5 }, 'persona', '"persona" is 5; it must be "svc", "none" or an object.'],
  [
    'a persona of 20,001 characters',
    { persona: { system_prompt: 'a'.repeat(20_001) } },
    'persona.system_prompt',
    '"persona',
  ],
  [
    'a personality of six traits',
    { personality_config: { ...config, traits: { ...traits, witty: undefined } } },
    'personality_config.traits.witty',
    '"personality_config.traits.witty" is missing.',
  ],
  [
    'a trait of 101',
    { personality_config: { ...config, traits: { ...traits, rude: 101 } } },
    'personality_config.traits.rude',
    'is 101; it must be between 0 and 100',
  ],
  [
    'a trait of -1',
    { personality_config: { ...config, traits: { ...traits, rude: -1 } } },
    'personality_config.traits.rude',
    'is -1; it must be between 0 and 100',
  ],
  [
    'a style word of 65 characters',
    { response_style: { format: 'a'.repeat(65) } },
    'response_style.format',
    'has 65 characters; at most 64 are allowed',
  ],
  ['branding as a word', { svc_branding: 'no' }, 'svc_branding', 'it must be true or false'],
  ['brand soul as a number', { brand_soul: 0 }, 'brand_soul', 'it must be true or false'],
  [
    'a temperature of -0.01',
    { temperature: -0.01 },
    'temperature',
    '"temperature" is -0.01; it must be between 0 and 2.',
  ],
  ['a temperature of 2.01', { temperature: 2.01 }, 'temperature', '"temperature" is 2.01; it must be between 0 and 2.'],
  [
    'a temperature as a word',
    { temperature: '1' },
    'temperature',
    '"temperature" is "1"; it must be a number between 0 and 2.',
  ],
  ['no iterations', { max_iterations: 0 }, 'max_iterations', 'it must be between 1 and 20'],
  ['21 iterations', { max_iterations: 21 }, 'max_iterations', 'it must be between 1 and 20'],
  ['one and a half iterations', { max_iterations: 1.5 }, 'max_iterations', 'it must be a whole number'],
  [
    'an override of an unknown mode',
    { model_overrides: { turbo: 'svc-1-flash' } },
    'model_overrides.turbo',
    'is not a mode of this server',
  ],
  [
    'an override to an unknown engine',
    { model_overrides: { fast: 'gpt' } },
    'model_overrides.fast',
    '"model_overrides.fast" is "gpt", which is not an engine. GET /models lists them.',
  ],
  [
    'an override to a prototype',
    { model_overrides: { fast: 'constructor' } },
    'model_overrides.fast',
    'is not an engine',
  ],
  ['an unknown format', { format: 'openai' }, 'format', '"format" is "openai". Use svc or compat.'],
  ['metadata that is a list', { metadata: [] }, 'metadata', 'it must be an object or null'],
  [
    'metadata with 51 keys',
    { metadata: Object.fromEntries(many(51, (at) => [`k${at}`, 1])) },
    'metadata',
    '"metadata" has 51 keys; at most 50 are allowed.',
  ],
  [
    'metadata of 17 KB',
    { metadata: { a: 'x'.repeat(17_000) } },
    'metadata',
    'bytes as JSON; at most 16384 are allowed',
  ],
  [
    '11 attachments',
    { attachments: many(11, () => ({ type: 'image_url', url: 'https://example.com/a.png' })) },
    'attachments',
    'at most 10 are allowed',
  ],
  [
    'an attachment of another kind',
    { attachments: [{ type: 'file', url: 'x' }] },
    'attachments[0].type',
    '"attachments[0]',
  ],
  [
    'an attachment without data',
    { attachments: [{ type: 'image_base64', mime_type: 'image/png' }] },
    'attachments[0].data',
    '"attachments[0]',
  ],
  [
    'an attachment whose bytes are no picture',
    { attachments: [{ type: 'image_base64', data: 'AAAA', mime_type: 'image/png' }] },
    'attachments[0].data',
    '"attachments[0]',
  ],
  [
    'an attachment that is not base64',
    { attachments: [{ type: 'image_base64', data: '%%%%', mime_type: 'image/png' }] },
    'attachments[0].data',
    '"attachments[0].data" is not base64.',
  ],
  ['an unknown image model', { image_model: 'svc-1-flash' }, 'image_model', 'Use auto, svc-1-create'],
  ['an unknown image quality', { image_quality: 'ultra' }, 'image_quality', 'Use draft, standard or hd.'],
  ['an unknown aspect', { stealth_aspect: 'round' }, 'stealth_aspect', 'Use square, portrait, landscape or wide.'],
  ['an unknown duration', { stealth_duration: '7s' }, 'stealth_duration', 'Use 5s, 6s or 10s.'],
  [
    'an unknown engine to pin',
    { mode: 'stealth_text', stealth_model: 'nope' },
    'stealth_model',
    '"stealth_model" is "nope", which is not an engine.',
  ],
]

describe('POST /completions refuses', () => {
  test.each(REFUSED)('%s', async (_, members, param, words) => {
    const { status, body } = await ada.send('POST', 'completions', { prompt: 'hi', ...members })
    expect(status).toBe(400)
    expect(body.error?.code).toBe('validation_error')
    expect(body.error?.type).toBe('invalid_request_error')
    expect(body.error.message).toContain(words)
    expect(body.error.param).toBe(param)
    expect(body.error.details[0].path).toBe(param)
  })

  test.each(REFUSED.slice(0, 8))('%s as JSON when a stream was asked for (P2)', async (_, members) => {
    const { status, body } = await ada.send('POST', 'completions', { prompt: 'hi', stream: true, ...members })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  })

  test.each(['', '{}', 'null', '[]', '"x"', '1', 'true'])('the body %j', async (text) => {
    const { status, body } = await ada.send('POST', 'completions', text)
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'validation_error' })
  })

  test('three problems in one sentence each, and the rest counted', async () => {
    const { body } = await ada.send('POST', 'completions', { mode: 'x', temperature: 9, stream: 1, max_iterations: 0 })
    expect(body.error.details.map(({ path }: { path: string }) => path).sort()).toEqual([
      'max_iterations',
      'mode',
      'prompt',
      'stream',
      'temperature',
    ])
    expect(body.error.message).toMatch(/ 2 more\.$/)
  })

  test('nothing of what it refused was counted, charged or kept', async () => {
    expect((await ada.send('GET', 'audit?action=completion.*')).body).toEqual([])
    expect((await ada.send('GET', 'conversations')).body.conversations).toEqual([])
  })
})
