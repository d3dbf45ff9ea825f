import { describe, expect, test } from 'bun:test'
import { errorHeaders, helpfulHeaders, statusOf, toEnvelope } from '../../src/http/envelope'
import { AppError, type ErrorCode } from '../../src/kernel/errors'

/** The table of docs/api.md 1.5. */
const TABLE: Record<string, { status: number; type: string }> = {
  ...ofType(
    'invalid_request_error',
    400,
    `
    validation_error empty_prompt context_length_exceeded missing_prompt missing_fields missing_text missing_file
    invalid_format url_blocked org_required routing_preference_invalid routing_suggest_below_threshold
    guardrail_policy_invalid guardrail_blocked
  `
      .trim()
      .split(/\s+/),
  ),
  ...ofType('authentication_error', 401, [
    'invalid_api_key',
    'invalid_session',
    'invalid_token',
    'invalid_credentials',
  ]),
  ...ofType('billing_error', 402, ['insufficient_credits']),
  ...ofType('permission_error', 403, ['missing_scope', 'forbidden', 'origin_not_allowed', 'bot_check_failed']),
  ...ofType('not_found_error', 404, [
    'not_found',
    'session_not_found',
    'live_view_unavailable',
    'previous_response_not_found',
  ]),
  ...ofType('invalid_request_error', 405, ['method_not_allowed']),
  ...ofType('conflict_error', 409, ['conflict', 'idempotency_conflict', 'team_billing_setup_required']),
  ...ofType('invalid_request_error', 413, ['payload_too_large']),
  ...ofType('invalid_request_error', 415, ['unsupported_media_type']),
  ...ofType('invalid_request_error', 422, ['review_failed']),
  ...ofType('rate_limit_error', 429, [
    'rate_limit_exceeded',
    'mode_rate_limit_exceeded',
    'token_limit_exceeded',
    'browser_session_limit',
  ]),
  ...ofType('api_error', 500, ['server_error']),
  ...ofType('api_error', 501, ['browser_unconfigured']),
  ...ofType('api_error', 502, ['tts_provider_error', 'stt_provider_error']),
  ...ofType(
    'api_error',
    503,
    `
    queue_unavailable tts_unavailable stt_unavailable embeddings_unavailable voice_unavailable service_unavailable
    storage_unavailable engine_unavailable
  `
      .trim()
      .split(/\s+/),
  ),
  ...ofType('api_error', 504, ['request_timeout']),
}

/** Named in the record and never sent: nobody is left to read it. */
const RECORD_ONLY = ['client_closed']

function ofType(type: string, status: number, codes: string[]) {
  return Object.fromEntries(codes.map((code) => [code, { status, type }]))
}

/** Every code that the sources of the tenant API can throw. */
async function findThrown(): Promise<{ code: ErrorCode; file: string }[]> {
  const files = await Array.fromAsync(new Bun.Glob('src/**/*.ts').scan('.'))
  const found = await Promise.all(
    files.map(async (file) => {
      const codes = (await Bun.file(file).text()).matchAll(/(?:new AppError|defineErrors?)\(\s*'(\w+)'/g)
      return [...codes].map(([, code]) => ({ code: code as ErrorCode, file }))
    }),
  )
  return found.flat().filter(({ code }) => !RECORD_ONLY.includes(code))
}

const thrown = await findThrown()

describe('error codes (docs/api.md 1.5)', () => {
  test('the sources throw some', () => {
    expect(thrown.length).toBeGreaterThan(40)
  })

  test.each(thrown)('$code of $file is in the table, with its status and type', ({ code }) => {
    const error = new AppError(code, 'words')
    const face = { status: statusOf(error), type: toEnvelope(error, 'req_1').error.type }
    expect(face).toEqual(TABLE[code] as typeof face)
  })

  test('every error is made with a literal code, so that this table can see it', async () => {
    const files = await Array.fromAsync(new Bun.Glob('src/**/*.ts').scan('.'))
    const blind = await Promise.all(
      files.map(async (file) => {
        const text = await Bun.file(file).text()
        return /(?:new AppError|defineErrors?)\(\s*(?!'\w+')\S/.test(text) ? [file] : []
      }),
    )
    // `calls.ts` throws anew what another process threw.
    expect(blind.flat().sort()).toEqual(['src/browser/calls.ts', 'src/kernel/errors.ts'])
  })
})

describe('the envelope', () => {
  test('names message, type, code and request', () => {
    expect(toEnvelope(new AppError('not_found', 'No key with this id.'), 'req_1')).toEqual({
      error: { message: 'No key with this id.', type: 'not_found_error', code: 'not_found', request_id: 'req_1' },
    })
  })

  test('of a bad request says which member, and lists every finding', () => {
    const details = [{ path: 'mode', message: 'bad' }]
    const error = new AppError('validation_error', 'bad', { param: 'mode', details })
    expect(toEnvelope(error, 'req_1').error).toMatchObject({ param: 'mode', details })
    expect(toEnvelope(new AppError('validation_error', 'bad'), 'req_1').error).toMatchObject({
      param: null,
      details: [],
    })
  })

  test.each(['rate_limit_exceeded', 'service_unavailable'] as const)(
    '%s comes with whole seconds to wait, at least one',
    (code) => {
      const wait = (retryAfterS?: number) =>
        errorHeaders(new AppError(code, 'x', retryAfterS === undefined ? {} : { retryAfterS }))
      expect(wait(0.2)['retry-after']).toBe('1')
      expect(wait(7.1)['retry-after']).toBe('8')
      expect(wait()['retry-after']).toBe('5')
    },
  )

  test('lead to the page of their code', () => {
    expect(helpfulHeaders(new AppError('not_found', 'x')).link).toBe('</docs/errors/not_found>; rel="help"')
  })

  test('of a missing credential says how to send one', () => {
    expect(errorHeaders(new AppError('invalid_api_key', 'x'))).toEqual({
      'www-authenticate': 'Bearer',
    })
  })
})
