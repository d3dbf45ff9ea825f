import { describe, expect, test } from 'bun:test'
import { jwtVerify } from 'jose'
import { scrub } from '../../../src/kernel/text'
import { onPattern, under } from '../../guardrails/support'
import { manifest, reviewer, submit } from '../../skills/support'
import { fakeClock } from '../../support/clock'
import { createWorld, type Person } from '../../support/world'

const SECRET = 'a shared secret of more than 32 characters'
const clock = fakeClock()
const world = await createWorld({ clock, config: { voiceUrl: 'wss://voice.example/live', voiceSecret: SECRET } })
const silent = await createWorld()
const admin = await reviewer(world)
const tokenOf = async (person: Person, input: object = {}) => (await person.send('POST', 'voice/token', input)).body
const act = (person: Person, input: object) => person.send('POST', 'voice/action', input)
const lastAudit = async (person: Person) => (await person.send('GET', 'audit')).body[0]

describe('POST /voice/token (docs/api.md 6)', () => {
  test('503 that names the setting where no live voice server is configured', async () => {
    const { status, body } = await (await silent.person()).send('POST', 'voice/token', {})
    expect({ status, code: body.error.code }).toEqual({ status: 503, code: 'voice_unavailable' })
    expect(body.error.message).toContain('SVC_VOICE_URL')
  })

  test('a token of 30 minutes that the live voice server can check, the instruction and the tools', async () => {
    const ada = await world.person()
    const { token, expiresAt, url, systemInstruction, tools } = await tokenOf(ada, { voice: 'svc-voice-warm' })
    expect(token).toMatch(/^svc_voice_ey/)
    expect(Date.parse(expiresAt)).toBe(clock.now() + 30 * 60_000)
    expect(url).toBe('wss://voice.example/live')
    expect(systemInstruction).toContain('You speak aloud')
    const key = new TextEncoder().encode(SECRET)
    const { payload } = await jwtVerify(token.slice('svc_voice_'.length), key, { currentDate: new Date(clock.now()) })
    expect(payload).toMatchObject({ iss: 'svc', aud: 'voice', sub: ada.userId, voice: 'svc-voice-warm' })
    expect(tools[0].functionDeclarations.map(({ name }: { name: string }) => name)).toContain('code_execute')
    expect(tools[0].functionDeclarations[0]).toMatchObject({ description: expect.any(String), parameters: {} })
    expect(await lastAudit(ada)).toMatchObject({ action: 'voice.created', entityType: 'audio' })
    expect(scrub(`token=${token} end`)).toBe('token=svc_voice_… end')
  })

  test('tools of installed skills are named after their skill', async () => {
    const ada = await world.person()
    const written = manifest({ tools: [{ name: 'count_waves', description: 'Counts waves.' }] })
    const { id, skillId, slug } = await submit(await world.person(), written)
    await admin.decide(id, 'approve')
    await ada.send('POST', 'skills', { skillId })
    const { tools, systemInstruction } = await tokenOf(ada)
    const names = tools[0].functionDeclarations.map(({ name }: { name: string }) => name)
    expect(names).toContain(`skill_${slug}_count_waves`)
    expect(names).not.toContain('count_waves')
    expect(systemInstruction).toContain(slug)
    const { body } = await act(ada, { tool: `skill_${slug}_count_waves`, arguments: {} })
    expect(body).toMatchObject({ status: 'success', result: { acknowledged: true }, error: null })
    expect((await act(await world.person(), { tool: `skill_${slug}_count_waves` })).status).toBe(404)
  })

  test('goes on with a conversation of the caller, and with none of others', async () => {
    const ada = await world.person()
    const { conversation_id } = (await ada.send('POST', 'completions', { prompt: 'What is 6 times 7?' })).body
    expect((await tokenOf(ada, { conversation_id })).systemInstruction).toContain('User: What is 6 times 7?')
    expect((await (await world.person()).send('POST', 'voice/token', { conversation_id })).status).toBe(404)
  })

  test('needs a balance', async () => {
    const poor = await world.person({ cents: 0 })
    expect((await poor.send('POST', 'voice/token', {})).body.error.code).toBe('insufficient_credits')
  })
})

describe('POST /voice/action (docs/api.md 6)', () => {
  test('runs a tool by its name', async () => {
    const ada = await world.person()
    const { token } = await tokenOf(ada)
    const code = { language: 'javascript', code: '6 * 7' }
    const { status, body } = await act(ada, { tool: 'code_execute', arguments: code, session_token: token })
    expect(status).toBe(200)
    expect(body.status).toBe('success')
    expect(body.error).toBe(null)
    expect(JSON.stringify(body.result)).toContain('42')
  })

  test('a tool that fails says why; its arguments are checked', async () => {
    const { status, body } = await act(await world.person(), { tool: 'code_execute', arguments: { language: 7 } })
    expect(status).toBe(200)
    expect(body).toMatchObject({ tool: 'code_execute', status: 'error', result: null, error: expect.any(String) })
  })

  test('404 for an unknown tool', async () => {
    const ada = await world.person()
    for (const tool of ['teleport', 'constructor', '__proto__']) {
      expect((await act(ada, { tool })).body.error).toMatchObject({ code: 'not_found' })
    }
  })

  test('401 for a token of another, one that was changed, and one that has expired', async () => {
    const [ada, eve] = await Promise.all([world.person(), world.person()])
    const { token } = await tokenOf(ada)
    const [header, payload, signature] = token.split('.')
    const none = `svc_voice_${btoa('{"alg":"none"}').replaceAll('=', '')}.${payload}.`
    const changed = [`${header}.${payload}.${signature}x`, none, 'svc_voice_', token.slice('svc_voice_'.length)]
    for (const session_token of changed) {
      expect((await act(ada, { tool: 'code_execute', session_token })).body.error.code).toBe('invalid_token')
    }
    expect((await act(eve, { tool: 'code_execute', session_token: token })).status).toBe(401)
    clock.advance(30 * 60_000)
    expect((await act(ada, { tool: 'code_execute', session_token: token })).status).toBe(401)
  })

  test('the policy of the key reads what a tool is given', async () => {
    const ada = await world.person()
    await under(ada, [onPattern('tool_call', 'block', 'forbidden')])
    const { body } = await act(ada, {
      tool: 'code_execute',
      arguments: { language: 'javascript', code: '"forbidden"' },
    })
    expect(body).toMatchObject({ status: 'error', error: expect.stringContaining('guardrail') })
  })
})
