import { describe, expect, test } from 'bun:test'
import { createWorld, operatorCall } from '../support/world'
import { manifest, securityManifest, submit } from './support'

const world = await createWorld()
const { operator } = world.app.container.skills
const call = operatorCall()

describe('operators and submissions', () => {
  test('see what a version changes, with phrases to read twice', async () => {
    const ada = await world.person()
    const first = await submit(ada, manifest({ systemPromptExtension: 'One.\nTwo.' }))
    const next = { slug: first.slug, version: '1.1.0', systemPromptExtension: 'One.\nThree, qu\u200bietly.' }
    const second = await submit(ada, manifest(next), { skill_id: first.skillId })
    expect(second.reply.body.submission.reviewTier).toBe('staff')
    const { parts, added, removed } = await operator.diff(call, second.id)
    expect(parts.map(({ path }) => path).sort()).toEqual(['systemPromptExtension', 'version'])
    const lines = parts.find(({ path }) => path === 'systemPromptExtension')!.lines
    expect(lines.map(({ sign, number }) => [sign, number])).toEqual([
      [' ', 1],
      ['-', 2],
      ['+', 2],
    ])
    expect(lines.map(({ suspicious }) => suspicious)).toEqual([false, false, true])
    expect({ added, removed }).toEqual({ added: 2, removed: 2 })
  })

  test('approve tier security only with the diff they read', async () => {
    const { id } = await submit(await world.person(), securityManifest())
    const approve = (read_diff?: string) =>
      operator.decide(call, id, { decision: 'approve', reason: 'read', ...(read_diff ? { read_diff } : {}) })
    await expect(approve()).rejects.toMatchObject({ code: 'conflict' })
    await expect(approve('0123456789abcdef')).rejects.toMatchObject({ code: 'conflict' })
    expect(await approve((await operator.diff(call, id)).sha)).toMatchObject({ status: 'approved', reason: 'read' })
  })

  test('get the manifest, what is live and each finding, and list by state and tier', async () => {
    const { id, slug } = await submit(await world.person(), securityManifest())
    const whole = await operator.get(call, id)
    expect({
      liveVersion: whole.live_version,
      slug: whole.slug,
      findings: whole.findings,
      manifestSlug: whole.manifest.slug,
    }).toEqual({ liveVersion: null, slug, findings: [], manifestSlug: slug })
    const wanted = { status: 'pending_review' as const, tier: 'security' as const, limit: 50 }
    expect((await operator.list(call, wanted)).items.map(({ id: one }) => String(one))).toContain(id)
    await operator.decide(call, id, { decision: 'reject', reason: 'no' })
    expect((await operator.list(call, wanted)).items.map(({ id: one }) => String(one))).not.toContain(id)
  })
})
