import { describe, expect, test } from 'bun:test'
import { createUpstreamWorld, freshPrompt } from '../../completions/upstream-world'
import { download } from './support'

const { world, upstream } = await createUpstreamWorld()

const offeredIn = (): string[] => {
  const tools = (upstream.calls.at(-1)!.body.tools ?? []) as { function: { name: string } }[]
  return tools.map((tool) => tool.function.name)
}

describe('tools that make files (docs/api.md 5.2)', () => {
  test('generate_document keeps what the engine wrote, free of charge and once for a retry', async () => {
    const ada = await world.person({ cents: 100 })
    const written = { title: 'Rows', content: 'Words, and more.', format: 'csv' }
    const input = { prompt: `[[plan:generate_document${JSON.stringify(written)}]]`, mode: 'think' }
    const { body } = await ada.send('POST', 'completions', input, { 'idempotency-key': 'tool-1' })
    expect(body.tools_used).toEqual([expect.objectContaining({ name: 'generate_document', status: 'success' })])
    const { result } = body.tools_used[0]
    expect(body.artifacts).toMatchObject([{ id: result.id.replace('doc_', 'art_'), type: 'document', format: 'csv' }])
    expect(result).toMatchObject({ title: 'Rows', format: 'csv', size_bytes: 38 })
    const made = await ada.send('GET', `documents/${result.id}`)
    expect(made.body).toMatchObject({ content: written.content, usage: { cost_cents: 0 } })
    expect(new TextDecoder().decode((await download(world, made)).bytes)).toBe(
      'Section,Text\r\n,"Words, and more."\r\n',
    )
    expect((await ada.send('POST', 'completions', input, { 'idempotency-key': 'tool-1' })).body.id).toBe(body.id)
  })

  test('an invalid call is reported to the engine, and nothing is stored', async () => {
    const ada = await world.person({ cents: 100 })
    const prompt = `[[plan:generate_document${JSON.stringify({ title: 'x', content: 'y', format: 'exe' })}]]`
    const { body } = await ada.send('POST', 'completions', { prompt, mode: 'think' })
    expect(body.tools_used[0]).toMatchObject({ status: 'error', result: null })
    const recorded = (await ada.send('GET', 'audit')).body as { action: string }[]
    expect(recorded.filter(({ action }) => action.startsWith('document'))).toEqual([])
  })

  test('generate_code is charged like POST /code', async () => {
    const ada = await world.person({ cents: 100 })
    const prompt = `[[plan:generate_code${JSON.stringify({ prompt: 'a row parser', language: 'python' })}]]`
    const { body } = await ada.send('POST', 'completions', { prompt, mode: 'think' })
    expect(body.tools_used[0]).toMatchObject({ name: 'generate_code', status: 'success' })
    const usage = (await ada.send('GET', 'usage')).body
    expect(usage.by_mode).toMatchObject({ code: { requests: 1 }, think: { requests: 1 } })
    // The answer says what the run and its tools cost together, as the key has spent it.
    expect(usage.by_mode.code.cost_cents).toBeGreaterThan(0)
    expect(body.usage.cost_cents).toBe(usage.totals.cost_cents)
  })

  test('are not offered where nothing may be kept, nor to the engine that writes code itself', async () => {
    const ada = await world.person({ cents: 100 })
    await ada.send('POST', 'completions', { prompt: freshPrompt(), mode: 'think' })
    expect(offeredIn()).toEqual(expect.arrayContaining(['generate_code', 'generate_document', 'save_memory']))
    await ada.send('POST', 'completions', { prompt: freshPrompt(), mode: 'code' })
    expect(offeredIn()).toContain('generate_document')
    expect(offeredIn()).not.toContain('generate_code')
    const tools = [{ name: 'mine', description: 'Mine.' }]
    await ada.send('POST', 'completions', { prompt: freshPrompt(), mode: 'stealth_text', tools })
    expect(offeredIn()).toContain('mine')
    expect(offeredIn()).toContain('web_fetch')
    for (const name of ['generate_code', 'generate_document', 'save_memory']) expect(offeredIn()).not.toContain(name)
  })
})
