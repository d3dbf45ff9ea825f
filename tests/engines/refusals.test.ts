import { describe, expect, test } from 'bun:test'
import { failureOfReport, failureOfStatus, isReport, type RefusedPart, readRefusal } from '../../src/engines/failures'

const error = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } })

/** What servers of many kinds say of a request that is too long, word for word, and the two numbers in it. */
const TOO_LONG: [string, number, string, number | null, number | null][] = [
  [
    'code and both numbers',
    400,
    error(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 10029 tokens. Please reduce the length of the messages.",
      { type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    ),
    10_029,
    8_192,
  ],
  [
    'the sum in parts',
    400,
    error(
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion).",
      { code: 400 },
    ),
    5_000,
    4_096,
  ],
  [
    'a calculation',
    400,
    error(
      "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 12 input tokens (5000 > 4096 - 12).",
    ),
    5_000,
    4_096,
  ],
  ['a comparison', 400, error('prompt is too long: 210000 tokens > 200000 maximum'), 210_000, 200_000],
  [
    'members of its own',
    400,
    error('the request exceeds the available context size, try increasing it', {
      code: 400,
      type: 'exceed_context_size_error',
      n_prompt_tokens: 5_001,
      n_ctx: 4_096,
    }),
    5_001,
    4_096,
  ],
  ['brackets', 400, error('request (5001 tokens) exceeds the available context size (4096 tokens)'), 5_001, 4_096],
  [
    'a token count',
    400,
    error('The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', {
      status: 'INVALID_ARGUMENT',
    }),
    1_200_000,
    1_048_576,
  ],
  [
    'the limit last',
    400,
    JSON.stringify({ message: 'Prompt contains 40001 tokens, too large for model with 32768 maximum context length' }),
    40_001,
    32_768,
  ],
  [
    'two parts to add up',
    422,
    JSON.stringify({
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 1000 `max_new_tokens`',
      error_type: 'validation',
    }),
    5_000,
    4_096,
  ],
  ['commas', 400, error('too many tokens: limit of 16,384, requested 20,001'), 20_001, 16_384],
  [
    'a date in the name of the model',
    400,
    error("model-3-20241022's maximum context length is 8192 tokens, got 9000"),
    9_000,
    8_192,
  ],
  ['only a code', 400, error('Please shorten it.', { code: 'context_length_exceeded' }), null, null],
  ['nothing', 413, '', null, null],
  ['a page', 413, '<html><h1>413 Request Entity Too Large</h1></html>', null, null],
]

test.each(TOO_LONG)('a request that is too long: said with %s (%i)', (_how, status, body, sent, max) => {
  expect(readRefusal(status, body)).toEqual({ part: 'length', sent, max })
})

const OTHERS: [RefusedPart, string][] = [
  ['images', error('Could not process image', { type: 'invalid_request_error' })],
  ['images', error('Invalid value', { param: 'messages[1].content[0].image_url' })],
  ['images', error('image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes, too large')],
  ['tools', error('schema must be an object', { param: 'tools[0].function.parameters' })],
  ['tools', error('"auto" tool choice requires --enable-auto-tool-choice to be set')],
  ['schema', error("Invalid schema for response_format 'answer'", { param: 'response_format' })],
  ['temperature', error('Unsupported value: 0.5', { param: 'temperature' })],
  ['content', error('The response was filtered', { code: 'content_filter' })],
  ['request', error('Something else')],
  ['request', 'not JSON'],
  ['request', '[]'],
  ['request', '{"error":null}'],
]

test.each(OTHERS)('what else an engine could not take: %s: %s', (part, body) => {
  expect(readRefusal(400, body)).toEqual({ part, sent: null, max: null })
})

describe('what only the operator can mend', () => {
  test.each([
    error('The model `x-large` does not exist', { code: 'model_not_found' }),
    error('Model Not Exist', { type: 'invalid_request_error' }),
    error('model "llama" not found, try pulling it first'),
    error('API key not valid. Please pass a valid API key.', { status: 'INVALID_ARGUMENT' }),
    JSON.stringify([{ error: { message: 'x', details: [{ reason: 'API_KEY_INVALID' }] } }]),
    error('max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens'),
  ])('%s', (body) => {
    expect(readRefusal(400, body)).toBeNull()
  })

  test('is not what a long message quotes of the prompt', () => {
    const quoted = `Bad input: ${'please say that the model is wrong. '.repeat(10)} The model x does not exist`
    expect(readRefusal(400, error(quoted))).toMatchObject({ part: 'request' })
  })

  test.each([401, 403, 404, 302, 429, 500])('%i is no refusal of the request', (status) => {
    expect(readRefusal(status, error('prompt is too long: 3 tokens > 2 maximum'))).toBeNull()
  })
})

test('a hostile body costs no time and breaks nothing', () => {
  for (const body of [
    'maximum tokens '.repeat(50_000),
    '9'.repeat(200_000),
    '('.repeat(100_000),
    '{"error":'.repeat(5_000),
  ])
    expect(readRefusal(400, body)).not.toBeNull()
})

const NOW = Date.parse('2026-11-30T12:00:00Z')
const waitOf = (status: number, headers: Record<string, string>, body = '') =>
  failureOfStatus(status, new Headers(headers), NOW, body).retryAfterS
const spent = { 'x-ratelimit-remaining': '0', 'ratelimit-remaining': '0' }

describe('how long an upstream asks to wait', () => {
  test.each<[string, number | undefined]>([
    ['0', 0],
    ['1.5', 1.5],
    ['"30"', 30],
    ['30, 30', 30],
    ['30s', 30],
    ['30 seconds', 30],
    ['PT1M30S', 90],
    ['1m30s', 90],
    ['2026-11-30T12:00:45Z', 45],
    ['Mon, 30 Nov 2026 12:01:00 GMT', 60],
    ['Monday, 30-Nov-26 12:01:00 GMT', 60],
    ['Mon Nov 30 12:01:00 2026', 60],
    ['-5', undefined],
    ['soon', undefined],
  ])('Retry-After: %s', (word, wait) => expect(waitOf(429, { 'retry-after': word })).toBe(wait))

  test.each<[Record<string, string>, number]>([
    [{ ...spent, 'ratelimit-reset': '42' }, 42],
    [{ ratelimit: '"default";r=0;t=42' }, 42],
    [{ ...spent, 'x-ratelimit-reset': '17' }, 17],
    [{ ...spent, 'x-ratelimit-reset-after': '3.2' }, 4],
    [{ 'x-ratelimit-timeremaining': '58' }, 58],
  ])('the headers %p', (headers, wait) => expect(waitOf(429, headers)).toBe(wait))

  test.each<[number, object, number]>([
    [429, { retry_after: 12 }, 12],
    [429, { metadata: { retry_after_seconds: 9 } }, 9],
    [429, { metadata: { headers: { 'X-RateLimit-Reset': '1796040060000' } } }, 60],
    [429, { message: 'Too many requests, please wait 20 seconds before trying again.' }, 20],
    [429, { message: 'Limit resets at: 2026-11-30 12:00:30 UTC' }, 30],
    [503, { error: 'Model is currently loading', estimated_time: 20.5 }, 21],
    [503, { message: 'Overloaded, retry after 5 seconds' }, 5],
  ])('the words of a %i %p', (status, body, wait) => expect(waitOf(status, {}, JSON.stringify(body))).toBe(wait))
})

test.each([
  ['data_inspection_failed', 'Input data may contain inappropriate content.', 'content'],
  ['1301', '系统检测到输入或生成内容可能包含不安全或敏感内容', 'content'],
  ['invalid_request_error', 'Content Exists Risk', 'content'],
  ['unsupported_parameter', "Unsupported parameter: 'max_tokens' is not supported with this model.", undefined],
  ['400', '/chat/completions: Invalid model name passed in model=x.', undefined],
])('a 400 with code %s is about %s', (code, message, part) =>
  expect(readRefusal(400, error(message, { code }))?.part).toBe(part as never),
)

test.each<[object, string | null]>([
  [{ detail: 'Not Found' }, 'config'],
  [{ error_code: 18, error_msg: 'Open api qps request limit reached' }, 'throttled'],
  [{ code: 'InternalError', message: 'x', request_id: 'r' }, 'server'],
  [{ status: 'error', message: 'Something failed' }, 'server'],
  [{ ResponseMetadata: { Error: { Code: 'RateLimitExceeded' } } }, 'throttled'],
  [{ code: 'Success', message: 'ok' }, null],
  [{ detail: 'x', choices: [] }, null],
])('%j in a 200 is a failure of kind %p', (body, kind) =>
  expect(isReport(body) ? failureOfReport(body, new Headers(), NOW).kind : null).toBe(kind as never),
)
