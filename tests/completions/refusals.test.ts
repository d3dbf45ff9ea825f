import { expect, test } from 'bun:test'
import { type Refusal, refusals } from '../support/refusals'
import { createWorld } from '../support/world'

const world = await createWorld()
const ada = await world.person()

const traits = { romantic: 1, intelligent: 1, sarcastic: 1, rude: 1, funny: 1, comedic: 1, witty: 1 }
const config = { traits, uncensored_mode: false, active_preset_id: null }
const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const MODES =
  'auto, fast, think, code, image, video, research, roast, genui, data_extraction, domain_analysis, vision, stealth_text, stealth_image or stealth_video'

/** Members of the body beside a good prompt, and the sentence about them (docs/api.md 2.1, docs/operating.md 6.1). */
const REFUSED: Refusal[] = [
  ['a number as prompt', { prompt: 5 }, '"prompt" is 5; it must be a string.'],
  ['null as prompt', { prompt: null }, '"prompt" is null; it must be a string.'],
  ['an empty prompt', { prompt: '' }, '"prompt" is empty.'],
  ...['  \n', '\n', '\t\r\n \u00a0', '\u200b\u2060', '\u2060\ufeff'].map(
    (prompt): Refusal => [`a prompt of ${JSON.stringify(prompt)}`, { prompt }, '"prompt" is missing or blank.'],
  ),
  [
    'a prompt of 1,000,001 characters',
    { prompt: 'a'.repeat(1_000_001) },
    '"prompt" has 1000001 characters; at most 1000000 are allowed',
  ],
  [
    'a prompt of as many, of which each is two code units',
    { prompt: '\u{1d54f}'.repeat(1_000_001) },
    '"prompt" has 1000001 characters; at most 1000000 are allowed',
  ],
  ['an unknown mode', { mode: 'turbo' }, `"mode" is "turbo". Use ${MODES}.`],
  ['a mode in capitals', { mode: 'FAST' }, '"mode" is "FAST".'],
  ['stream as a word', { stream: 'true' }, '"stream" is "true"; it must be true or false.'],
  ['stream as a number', { stream: 1 }, '"stream" is 1; it must be true or false.'],
  [
    'a conversation id that is a number',
    { conversation_id: 5 },
    '"conversation_id" is 5; it must be a string or null.',
  ],
  ['an inline conversation that is a list', { conversation: [] }, '"conversation" is []; it must be an object.'],
  ['an inline conversation without messages', { conversation: {} }, '"conversation.messages" is missing.'],
  [
    '51 inline messages',
    { conversation: { messages: many(51, () => ({ role: 'user', content: 'x' })) } },
    '"conversation.messages" has 51 entries; at most 50 are allowed',
  ],
  [
    'an inline system message',
    { conversation: { messages: [{ role: 'system', content: 'x' }] } },
    '"conversation.messages[0].role" is "system". Use user or assistant.',
  ],
  [
    'an inline message without content',
    { conversation: { messages: [{ role: 'user' }] } },
    '"conversation.messages[0].content" is missing.',
  ],
  ['21 skills', { skills: many(21, (at) => `s${at}`) }, '"skills" has 21 entries; at most 20 are allowed'],
  ['skills as a word', { skills: 'one' }, '"skills" is "one"; it must be a list'],
  [
    '65 tools',
    { tools: many(65, (at) => ({ name: `t${at}`, description: 'x' })) },
    '"tools" has 65 entries; at most 64 are allowed',
  ],
  [
    'a tool name with a space',
    { tools: [{ name: 'a b', description: 'x' }] },
    '"tools[0].name" is "a b"; it must be at most',
  ],
  [
    'a tool name of 65 characters',
    { tools: [{ name: 'a'.repeat(65), description: 'x' }] },
    /"tools\[0\]\.name" is "a{20,}.*it must be at most/,
    { param: 'tools[0].name' },
  ],
  ...['', 'a/b', 'ключ', '\u001b[31m'].map(
    (name): Refusal => [
      `a tool named ${JSON.stringify(name)}`,
      { tools: [{ name, description: 'x' }] },
      '"tools[0].name" ',
    ],
  ),
  ['a tool without description', { tools: [{ name: 'a' }] }, '"tools[0].description" is missing.'],
  ['a persona nobody knows', { persona: 'admin' }, '"persona" is "admin"; it must be "svc", "none" or an object.'],
  ['a persona that is a number', { persona: 5 }, '"persona" is 5; it must be "svc", "none" or an object.'],
  ['a persona of 20,001 characters', { persona: { system_prompt: 'a'.repeat(20_001) } }, '"persona.system_prompt" '],
  [
    'a personality of six traits',
    { personality_config: { ...config, traits: { ...traits, witty: undefined } } },
    '"personality_config.traits.witty" is missing.',
  ],
  [
    'a trait of 101',
    { personality_config: { ...config, traits: { ...traits, rude: 101 } } },
    '"personality_config.traits.rude" is 101; it must be between 0 and 100',
  ],
  [
    'a trait of -1',
    { personality_config: { ...config, traits: { ...traits, rude: -1 } } },
    '"personality_config.traits.rude" is -1; it must be between 0 and 100',
  ],
  [
    'a style word of 65 characters',
    { response_style: { format: 'a'.repeat(65) } },
    '"response_style.format" has 65 characters; at most 64 are allowed',
  ],
  ['branding as a word', { svc_branding: 'no' }, '"svc_branding" is "no"; it must be true or false'],
  ['brand soul as a number', { brand_soul: 0 }, '"brand_soul" is 0; it must be true or false'],
  ['a temperature of -0.01', { temperature: -0.01 }, '"temperature" is -0.01; it must be between 0 and 2.'],
  ['a temperature of 2.01', { temperature: 2.01 }, '"temperature" is 2.01; it must be between 0 and 2.'],
  ['a temperature as a word', { temperature: '1' }, '"temperature" is "1"; it must be a number between 0 and 2.'],
  ['no iterations', { max_iterations: 0 }, '"max_iterations" is 0; it must be between 1 and 20'],
  ['21 iterations', { max_iterations: 21 }, '"max_iterations" is 21; it must be between 1 and 20'],
  ['one and a half iterations', { max_iterations: 1.5 }, '"max_iterations" is 1.5; it must be a whole number'],
  [
    'an override of an unknown mode',
    { model_overrides: { turbo: 'svc-1-flash' } },
    '"model_overrides.turbo" is not a mode of this server',
  ],
  [
    'an override to an unknown engine',
    { model_overrides: { fast: 'gpt' } },
    '"model_overrides.fast" is "gpt", which is not an engine. GET /models lists them.',
  ],
  [
    'an override to a prototype',
    { model_overrides: { fast: 'constructor' } },
    '"model_overrides.fast" is "constructor", which is not an engine',
  ],
  ['an unknown format', { format: 'openai' }, '"format" is "openai". Use svc or compat.'],
  ['metadata that is a list', { metadata: [] }, '"metadata" is []; it must be an object or null'],
  [
    'metadata with 51 keys',
    { metadata: Object.fromEntries(many(51, (at) => [`k${at}`, 1])) },
    '"metadata" has 51 keys; at most 50 are allowed.',
  ],
  [
    'metadata of 17 KB',
    { metadata: { a: 'x'.repeat(17_000) } },
    '"metadata" has 17008 bytes as JSON; at most 16384 are allowed',
  ],
  [
    '11 attachments',
    { attachments: many(11, () => ({ type: 'image_url', url: 'https://example.com/a.png' })) },
    '"attachments" has 11 entries; at most 10 are allowed',
  ],
  ['an attachment of another kind', { attachments: [{ type: 'file', url: 'x' }] }, '"attachments[0].type" '],
  [
    'an attachment without data',
    { attachments: [{ type: 'image_base64', mime_type: 'image/png' }] },
    '"attachments[0].data" ',
  ],
  [
    'an attachment whose bytes are no picture',
    { attachments: [{ type: 'image_base64', data: 'AAAA', mime_type: 'image/png' }] },
    '"attachments[0].data" ',
  ],
  [
    'an attachment that is not base64',
    { attachments: [{ type: 'image_base64', data: '%%%%', mime_type: 'image/png' }] },
    '"attachments[0].data" is not base64.',
  ],
  ['an unknown image model', { image_model: 'svc-1-flash' }, '"image_model" is "svc-1-flash". Use auto, svc-1-create'],
  ['an unknown image quality', { image_quality: 'ultra' }, '"image_quality" is "ultra". Use draft, standard or hd.'],
  [
    'an unknown aspect',
    { mode: 'stealth_image', stealth_aspect: 'round' },
    '"stealth_aspect" is "round". Use square, portrait, landscape or wide.',
  ],
  [
    'an unknown duration',
    { mode: 'stealth_video', stealth_duration: '7s' },
    '"stealth_duration" is "7s". Use 5s, 6s or 10s.',
  ],
  [
    'an unknown engine to pin',
    { mode: 'stealth_text', stealth_model: 'nope' },
    '"stealth_model" is "nope", which is not an engine.',
  ],
  // What is near to a good value, of another type, or a member of every object (docs/attacks.md B17, B18, B26, B28,
  // B31, P1).
  ...[[], {}, true].map(
    (temperature): Refusal => [`a temperature of ${JSON.stringify(temperature)}`, { temperature }, '"temperature" is '],
  ),
  ...['8', -1].map(
    (max_iterations): Refusal => [
      `${JSON.stringify(max_iterations)} iterations`,
      { max_iterations },
      '"max_iterations" is ',
    ],
  ),
  ...['false', 'yes', 0, [], {}].map(
    (stream): Refusal => [`stream as ${JSON.stringify(stream)}`, { stream }, '"stream" is '],
  ),
  ...['', 'AUTO', 'auto ', '__proto__', 'constructor', 'toString', 1].map(
    (mode): Refusal => [`the mode ${JSON.stringify(mode)}`, { mode }, '"mode" is '],
  ),
  ...[{}, { system_prompt: '' }, []].map(
    (persona): Refusal => [`a persona of ${JSON.stringify(persona)}`, { persona }, /^"persona/],
  ),
  ['10,000 skills', { skills: many(10_000, (at) => `s${at}`) }, '"skills" has 10000 entries; at most 20 are allowed'],
  ...['__proto__', 'hasOwnProperty', '../x', 'svc-1-photo'].map(
    (fast): Refusal => [`an override to ${fast}`, { model_overrides: { fast } }, '"model_overrides.fast" is '],
  ),
  [
    'an override of a mode named constructor',
    '{"prompt":"x","model_overrides":{"constructor":"svc-1-flash"}}',
    '"model_overrides.constructor" is not a mode of this server',
  ],
  ['a temperature beyond what a number holds', '{"prompt":"x","temperature":1e999}', ''],
  ['a temperature of NaN', '{"prompt":"x","temperature":NaN}', ''],
]

const request = { world, as: ada, request: 'POST completions', body: { prompt: 'hi' } }
refusals('POST /completions refuses', request, REFUSED)

refusals(
  'POST /completions refuses as JSON when a stream was asked for (P2)',
  { ...request, body: { prompt: 'hi', stream: true } },
  REFUSED,
)

refusals(
  'POST /completions refuses a body that is no object',
  { ...request, body: {} },
  ['', '{}', 'null', '[]', '"x"', '1', 'true'].map((text) => [JSON.stringify(text), text, '']),
)

test('three problems in one sentence each, and the rest counted', async () => {
  const { body } = await ada.send('POST', 'completions', { mode: 'x', temperature: 9, stream: 1, max_iterations: 0 })
  const paths = body.error.details.map(({ path }: { path: string }) => path).sort()
  expect(paths).toEqual(['max_iterations', 'mode', 'prompt', 'stream', 'temperature'])
  expect(body.error.message).toMatch(/ 2 more\.$/)
})
