import { beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../catalogue/support'
import { keepsItsPromises } from '../catalogue/support/oracle'
import { UPSTREAM_SECRET } from '../support/upstream'
import { everythingStored } from './stored'

const ENGINE_KEY = 'sk-engine-Kq7wX2canaryEngineKey0001'
const target = await startTarget({ env: { SVC_ENGINE_API_KEY: ENGINE_KEY } })
const { send } = target

/** What must be found nowhere, by kind. */
const canaries: Record<string, string[]> = {
  'keys, each shown once': [],
  'session tokens, each shown once': [],
  passwords: [],
  'prompts in stealth': [],
  'Authorization values': [],
  'passwords in addresses': [],
  'keys in queries and cookies': [],
  'keys of engines': [ENGINE_KEY, UPSTREAM_SECRET],
}
/** Words of ordinary prompts: kept with their conversation, and told to nobody else. */
const spoken = Array.from({ length: 4 }, (_, n) => `spokenword${n}q8Zt${'xyzw'[n]}`)
const unique = (kind: string, n: number) => `cnry${kind}${n}${'Qm7TzLp2Vx9Rk4'.slice(n % 5)}Hd${n * 7919}`
const answers: string[] = []

const say = async (method: string, path: string, sending: Parameters<typeof send>[2] = {}) => {
  const reply = await send(method, path, sending)
  answers.push(reply.text, JSON.stringify([...reply.headers]))
  return reply
}
const remember = (kind: string, secret: string): string => {
  canaries[kind]!.push(secret)
  return secret
}

async function makeKeysAndSessions(): Promise<void> {
  for (let n = 0; n < 8; n++) {
    const { body } = await send('POST', 'keys', { body: { name: `k${n}` } })
    const key = remember('keys, each shown once', body.key)
    await say('GET', 'models', { key })
    await say('PUT', `keys/${body.id}`, { body: { name: 'renamed' } })
    if (n % 2) await say('DELETE', `keys/${body.id}`)
    await say('GET', 'models', { key })
  }
  for (let n = 0; n < 5; n++) {
    const account = { email: `canary${n}@example.com`, password: remember('passwords', unique('pass', n)) }
    const { body, headers } = await send('POST', 'auth/signup', { as: null, body: account })
    expect(headers.get('location')).toBeNull()
    const key = remember('session tokens, each shown once', body.session_token)
    await say('GET', 'auth/me', { key })
    await say('GET', 'auth/me', { as: null, headers: { cookie: `svc_session=${key}` } })
    await say('POST', 'auth/signup', { as: null, body: account })
    await say('POST', 'auth/sessions', {
      as: null,
      body: { ...account, password: remember('passwords', unique('wrong', n)) },
    })
    await say('POST', 'auth/sessions', { as: null, body: { email: account.email, password: [account.password] } })
    await say('DELETE', 'auth/sessions', { key })
  }
}

async function speak(): Promise<void> {
  for (const [n, fault] of ['', '[[500]]', '[[cut]]', '[[malformed]]', '[[401]]'].entries()) {
    const secret = remember('prompts in stealth', unique('stealth', n))
    for (const stream of [false, true]) {
      await say('POST', 'completions', { body: { prompt: `${secret} ${fault}`, mode: 'stealth_text', stream } })
    }
    await say('POST', 'completions', {
      body: { prompt: secret, mode: 'stealth_text', conversation_id: 'x', temperature: 9 },
    })
  }
  for (const word of spoken) {
    await say('POST', 'completions', { body: { prompt: `about ${word}`, mode: 'roast', metadata: { note: 'm' } } })
    await say('POST', 'completions', { body: { prompt: `about ${word} [[cut]]`, mode: 'genui', stream: true } })
    await say('POST', 'completions', { body: { prompt: `about ${word}`, mode: 'image' } })
  }
}

async function misplaceCredentials(): Promise<void> {
  for (const [n, scheme] of ['Bearer ', 'Basic ', 'Bearer svc_sk_live_', '', 'Token '].entries()) {
    const secret = remember('Authorization values', unique('auth', n))
    await say('GET', 'models', { as: null, headers: { authorization: scheme + secret } })
    await say('POST', 'completions', { as: null, headers: { authorization: scheme + secret }, body: '{' })
  }
  for (const [n, host] of ['169.254.169.254', '127.0.0.1:9', '[::1]', 'no-such-host.invalid', '10.0.0.1:x'].entries()) {
    const url = `https://user:${remember('passwords in addresses', unique('url', n))}@${host}/a.png`
    await say('POST', 'completions', {
      body: { prompt: 'see', mode: 'vision', attachments: [{ type: 'image_url', url }] },
    })
    await say('POST', 'chat/completions', {
      body: {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'image_url', image_url: { url } },
            ],
          },
        ],
      },
    })
  }
  for (let n = 0; n < 3; n++) {
    const secret = remember('keys in queries and cookies', unique('query', n))
    await say('GET', `models?api_key=${secret}`, { as: null, headers: { cookie: `k=${secret}` } })
    await say('GET', `conversations?cursor=${secret}`)
    await say('POST', `completions?token=${secret}`, { body: { prompt: 'x' } })
  }
}

describe('I25 a secret is shown once and is nowhere else', () => {
  beforeAll(async () => {
    await makeKeysAndSessions()
    await speak()
    await misplaceCredentials()
    for (const path of `
      keys?limit=100 audit?limit=100 rate-limits auth/me conversations health /openapi.json
    `
      .trim()
      .split(/\s+/))
      await say('GET', path)
    for (const path of ['/metrics', '/ops/v1/status', '/ops/v1/keys', '/ops/v1/engines'])
      answers.push((await target.ops('GET', path)).text)
  }, 60_000)

  test('there are at least forty of them', () => {
    expect(Object.values(canaries).flat().length).toBeGreaterThanOrEqual(40)
  })

  const places = {
    'the logs': async () => new Map([['printed', target.printed()]]),
    'what is stored': () => everythingStored(target.folder, target.databaseUrl),
    'later answers, the record and the operator API': async () => new Map([['answers', answers.join('\n')]]),
  }
  for (const [place, look] of Object.entries(places)) {
    test.each(Object.keys(canaries))(`${place} hold none of the %s`, async (kind) => {
      const hits = [...(await look())].flatMap(([where, text]) =>
        canaries[kind]!.filter((secret) => text.includes(secret)).map((secret) => `${where}: ${secret}`),
      )
      expect(hits).toEqual([])
    })
  }

  test('words of ordinary prompts are in no log line and in no event of the record', async () => {
    const record = (await send('GET', 'audit?limit=100')).text
    expect(spoken.filter((word) => target.printed().includes(word) || record.includes(word))).toEqual([])
  })
})

keepsItsPromises(target, { faults: true, canaries: spoken })
