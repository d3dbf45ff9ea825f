import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../completions/upstream-world'
import { manifest } from '../skills/support'
import { readFrames } from '../support/frames'
import { guarded, onKind, onTerms, under } from './support'

const { world, upstream } = await createUpstreamWorld()
const person = guarded(world)
const BLOCKED = onTerms('input', 'block', ['zeppelin'])

describe('the input phase (docs/api.md 12)', () => {
  test('a blocked prompt is 400, reaches no engine, costs nothing and is stored nowhere', async () => {
    const ada = await person(onTerms('input', 'block', ['zeppelin'], { message: 'Not about airships, please.' }))
    const calls = upstream.calls.length
    const spent = (await ada.send('GET', `keys/${ada.keyId}`)).body.spent_today_cents
    const { status, body, headers } = await ada.send('POST', 'completions', { prompt: 'Tell me of the Zeppelin' })
    expect(status).toBe(400)
    expect(body.error).toMatchObject({
      code: 'guardrail_blocked',
      type: 'invalid_request_error',
      message: 'Not about airships, please.',
      param: 'prompt',
      details: [{ path: 'prompt', message: expect.stringContaining('blocked_terms') }],
    })
    expect(upstream.calls).toHaveLength(calls)
    expect((await ada.send('GET', `keys/${ada.keyId}`)).body.spent_today_cents).toBe(spent)
    expect((await ada.send('GET', 'conversations')).body.conversations).toEqual([])
    const [row] = (await ada.send('GET', `audit?request_id=${headers.get('x-request-id')}`)).body
    expect(row).toMatchObject({
      action: 'completion.failed',
      entityType: 'completion',
      outputSummary: {
        status: 400,
        error_code: 'guardrail_blocked',
        cost_cents: 0,
        guardrails: [{ guardrail_id: 'blocked_terms', phase: 'input', verdict: 'block' }],
      },
    })
    expect(JSON.stringify(row).toLowerCase()).not.toContain('zeppelin')
  })

  test('a refusal without a message of the rule names the guardrail', async () => {
    const ada = await person(BLOCKED)
    expect((await ada.send('POST', 'completions', { prompt: 'zeppelin' })).body.error.message).toBe(
      'The guardrail blocked_terms blocked this request. Change it and send it again; nothing was charged.',
    )
  })

  test('what is redacted reaches neither the engine nor the conversation', async () => {
    const ada = await person(onTerms('input', 'redact', ['zeppelin']))
    const { status, body } = await ada.send('POST', 'completions', { prompt: 'The Zeppelin lands', mode: 'fast' })
    expect(status).toBe(200)
    expect(upstream.calls.at(-1)!.prompt).toBe('The [REDACTED:blocked_term] lands')
    expect(body.guardrails).toEqual([
      {
        guardrail_id: 'blocked_terms',
        phase: 'input',
        verdict: 'redact',
        detail: expect.not.stringContaining('zeppelin'),
      },
    ])
    const stored = await ada.send('GET', `conversations/${body.conversation_id}`)
    expect(stored.body.conversation.messages[0].content).toBe('The [REDACTED:blocked_term] lands')
  })

  test('a flag changes nothing and is reported', async () => {
    const ada = await person(onTerms('input', 'flag', ['zeppelin']))
    const prompt = freshPrompt('The Zeppelin lands')
    const { body, headers } = await ada.send('POST', 'completions', { prompt, mode: 'fast' })
    expect(upstream.calls.at(-1)!.prompt).toBe(prompt)
    expect(body.guardrails).toHaveLength(1)
    const [row] = (await ada.send('GET', `audit?request_id=${headers.get('x-request-id')}`)).body
    expect(row.outputSummary.guardrails).toEqual(body.guardrails)
  })

  test('rules run in their order: what an earlier one redacts cannot be blocked', async () => {
    const ada = await person(onTerms('input', 'redact', ['zeppelin']), onTerms('input', 'block', ['zeppelin']))
    expect((await ada.send('POST', 'completions', { prompt: 'A zeppelin' })).status).toBe(200)
    const bob = await person(onTerms('input', 'block', ['zeppelin']), onTerms('input', 'redact', ['zeppelin']))
    expect((await bob.send('POST', 'completions', { prompt: 'A zeppelin' })).status).toBe(400)
  })

  const user = (content: unknown) => ({ role: 'user', content })
  const hello = user('Hello')
  const answer = { role: 'assistant', content: 'Hello' }
  const zeppelin = user('I love the zeppelin')
  const picture = { type: 'image_url', image_url: { url: 'https://example.com/zeppelin.png' } }
  const attachments = [{ type: 'image_url', url: picture.image_url.url }]
  const system = { role: 'system', content: 'Speak of the zeppelin.' }
  type Place = [what: string, param: string, path: string, body: object]
  test.each<Place>([
    ['a stream, before it begins', 'prompt', 'completions', { prompt: 'zeppelin', stream: true }],
    [
      'an earlier turn',
      'conversation',
      'completions',
      { prompt: 'Go on', conversation: { messages: [zeppelin, answer] } },
    ],
    ['an attachment', 'attachments[0].url', 'completions', { prompt: 'Look', attachments }],
    ...Object.entries({
      'messages[0].content': [user('a zeppelin')],
      'messages[2].content': [hello, answer, zeppelin],
      'messages[3].content': [hello, answer, user(''), zeppelin, answer, hello],
      'messages[1].content': [hello, system, hello],
      'messages[1].content[1].image_url.url': [hello, user([{ type: 'text', text: 'Look' }, picture])],
    }).map(([param, messages]): Place => ['a message of chat', param, 'chat/completions', { messages }]),
  ])('%s is blocked, and the caller is told where: %s', async (_, param, path, body) => {
    const { status, body: found } = await (await person(BLOCKED)).send('POST', path, body)
    expect({ status, ...found.error }).toMatchObject({ status: 400, code: 'guardrail_blocked', param })
  })

  test('missing credit is reported before a blocked prompt (docs/api.md 1.5)', async () => {
    const poor = await world.person({ cents: 0 })
    await under(poor, [onTerms('input', 'block', ['zeppelin'])])
    for (const input of [{ prompt: 'zeppelin' }, { prompt: 'zeppelin', conversation_id: null, mode: 'stealth_text' }]) {
      expect((await poor.send('POST', 'completions', input)).status).toBe(402)
    }
  })

  test('every rule that fires emits an event', async () => {
    const ada = await world.person()
    const policy = await under(ada, [onTerms('input', 'flag', ['lands']), onTerms('input', 'block', ['zeppelin'])])
    const heard: object[] = []
    for (const { container } of world.nodes)
      container.events.inTransaction('*', async (_, event) => {
        if (event.type === 'guardrail.triggered') heard.push(event.data)
      })
    const { headers } = await ada.send('POST', 'completions', { prompt: 'The Zeppelin lands' })
    const about = { policy_id: policy, api_key_id: ada.keyId, request_id: headers.get('x-request-id') }
    expect(heard).toEqual([
      { ...about, guardrail_id: 'blocked_terms', phase: 'input', verdict: 'flag' },
      { ...about, guardrail_id: 'blocked_terms', phase: 'input', verdict: 'block' },
    ])
  })
})

const notifiedLast = (): string => JSON.stringify(upstream.calls.at(-1)!.body.messages)

describe('ways round a policy', () => {
  test('earlier turns from before the policy was in force reach no engine unchecked', async () => {
    const ada = await world.person()
    const first = await ada.send('POST', 'completions', { prompt: 'I saw a zeppelin', mode: 'fast' })
    const secret = await ada.send('POST', 'completions', {
      prompt: 'My address is ada@example.com',
      mode: 'fast',
      conversation_id: first.body.conversation_id,
    })
    expect(secret.status).toBe(200)
    await under(ada, [onTerms('input', 'block', ['zeppelin']), onKind('pii', 'input', 'redact')])
    for (const prompt of ['Go on', 'And on']) {
      const input = { prompt, mode: 'fast', conversation_id: first.body.conversation_id }
      const { status, body } = await ada.send('POST', 'completions', input)
      expect(status).toBe(200)
      expect(notifiedLast()).not.toContain('zeppelin')
      expect(notifiedLast()).not.toContain('ada@example.com')
      expect(notifiedLast()).toContain('[REDACTED:email]')
      expect(body.guardrails).toContainEqual(expect.objectContaining({ detail: expect.stringMatching(/earlier turn/) }))
    }
  })

  test('stealth requests are under it, and the audit log does not quote them', async () => {
    const ada = await person(onTerms('input', 'block', ['zeppelin']), onTerms('output', 'redact', ['kraken']))
    const blocked = await ada.send('POST', 'completions', { prompt: 'zeppelin', mode: 'stealth_text' })
    expect(blocked.body.error.code).toBe('guardrail_blocked')
    const input = { prompt: freshPrompt('Speak [[say:the kraken]]'), mode: 'stealth_text' }
    expect((await ada.send('POST', 'completions', input)).body.content).toBe('the [REDACTED:blocked_term]')
    expect((await ada.send('GET', 'audit')).text.toLowerCase()).not.toContain('zeppelin')
  })

  test('look-alike letters, invisible characters and accents hide no term', async () => {
    const ada = await person(BLOCKED)
    for (const prompt of ['ZEPPELIN', 'zeppеlin', 'zep\u200bpelin', 'ｚｅｐｐｅｌｉｎ', 'zéppelin']) {
      const { body } = await ada.send('POST', 'completions', { prompt })
      expect({ prompt, code: body.error?.code }).toEqual({ prompt, code: 'guardrail_blocked' })
    }
  })

  test('every mode, format and endpoint is under it, streaming or not', async () => {
    const ada = await person(BLOCKED)
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'a zeppelin' }] }]
    const replies = await Promise.all([
      ...['auto', 'fast', 'think', 'code', 'image', 'data_extraction'].map((mode) =>
        ada.send('POST', 'completions', { prompt: 'a zeppelin', mode }),
      ),
      ada.send('POST', 'completions', { prompt: 'a zeppelin', format: 'compat' }),
      ada.send('POST', 'completions', { prompt: 'a zeppelin', persona: 'none', stream: true }),
      ada.send('POST', 'chat/completions', { messages }),
      ada.send('POST', 'chat/completions', { messages, stream: true }),
    ])
    // A stream may have begun before the rule has run: then the refusal is its last frame.
    const codes = replies.map(({ body, text }) => body?.error?.code ?? /"code":"(\w+)"/.exec(text)?.[1])
    expect(codes).toEqual(replies.map(() => 'guardrail_blocked'))
  })

  test('identical requests at the same moment are all blocked', async () => {
    const ada = await person(onTerms('output', 'block', ['kraken'], { message: 'No sea monsters.' }))
    const input = { prompt: freshPrompt('Speak [[say:the kraken]] [[delay:50]]'), mode: 'fast' }
    for (const { body } of await Promise.all([1, 2, 3].map(() => ada.send('POST', 'completions', input)))) {
      expect(body).toMatchObject({ content: 'No sea monsters.', guardrails: [{ verdict: 'block' }] })
    }
  })

  test('a stream served from the cache is as guarded as the answer was', async () => {
    const ada = await person(onTerms('output', 'redact', ['kraken']))
    const input = { prompt: freshPrompt('Speak [[say:the kraken]]'), mode: 'fast' }
    await ada.send('POST', 'completions', input)
    const done = readFrames((await ada.send('POST', 'completions', { ...input, stream: true })).text).at(-1)!.data
    expect(done).toMatchObject({ content: 'the [REDACTED:blocked_term]', _cached: true, guardrails: [{}] })
  })

  test("a person's other key is not under a bound policy, and finds no answer made under it", async () => {
    const ada = await world.person()
    const other = { authorization: `Bearer ${(await ada.send('POST', 'keys', {})).body.key}` }
    await under(ada, [onTerms('output', 'redact', ['kraken'])])
    const input = { prompt: freshPrompt('Speak [[say:the kraken]]'), mode: 'fast' }
    await ada.send('POST', 'completions', input)
    expect((await world.send('POST', 'completions', input, other)).body.content).toBe('the kraken')
    expect((await ada.send('POST', 'completions', input)).body.content).toBe('the [REDACTED:blocked_term]')
  })

  test('a skill on trial is under it', async () => {
    const ada = await person(onTerms('input', 'block', ['zeppelin']), onTerms('output', 'redact', ['kraken']))
    const trial = (prompt: string) => ada.send('POST', 'skills/sandbox', { skill_id: 'email-drafter', prompt })
    expect((await trial('a zeppelin')).body.error.code).toBe('guardrail_blocked')
    expect((await trial('Speak [[say:the kraken]]')).body.response).toBe('the [REDACTED:blocked_term]')
    const [row] = (await ada.send('GET', 'audit?action=skill.tested')).body
    expect(row.outputSummary.guardrails).toHaveLength(1)
  })

  test('a skill on trial brings nothing past it in its manifest or in answers of before', async () => {
    const ada = await person(onTerms('input', 'block', ['zeppelin']), onTerms('input', 'redact', ['kraken']))
    const trial = (input: object) =>
      ada.send('POST', 'skills/sandbox', { manifest: manifest(), prompt: 'Hi', ...input })
    const tool = { name: 'look', description: 'Looks for a zeppelin', inputSchema: { type: 'object' } }
    for (const more of [{ systemPromptExtension: 'Speak of the zeppelin' }, { tools: [tool] }]) {
      const { body } = await trial({ manifest: manifest(more) })
      expect(body).toMatchObject({ error: { code: 'guardrail_blocked', param: 'manifest' } })
    }
    const before = upstream.calls.length
    const history = ['zeppelin', 'kraken'].map((content) => ({ role: 'assistant', content }))
    const { status } = await trial({ history, manifest: manifest({ systemPromptExtension: 'Speak of the kraken' }) })
    const heard = JSON.stringify(upstream.calls.slice(before))
    expect(status).toBe(200)
    expect(heard).toContain('Speak of the [REDACTED:blocked_term]')
    expect(heard).not.toMatch(/zeppelin|kraken/)
  })
})
