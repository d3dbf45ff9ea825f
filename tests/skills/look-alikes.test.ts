import { describe, expect, test } from 'bun:test'
import { submissionRepository } from '../../src/skills/repository'
import { lookAlike } from '../../src/skills/review/slug-unique'
import type { SubmissionId } from '../../src/skills/schema'
import { STARTERS } from '../../src/skills/starters'
import { createWorld } from '../support/world'
import { manifest, submit } from './support'

const world = await createWorld()

describe('a slug that could be taken for a skill of this server', () => {
  test.each([
    ['emai1-drafter', 'email-drafter'],
    ['email-drafters', 'email-drafter'],
    ['email--drafter', 'email-drafter'],
    ['emaildrafter', 'email-drafter'],
    ['ernail-drafter', 'email-drafter'],
    ['email-drafetr', 'email-drafter'],
    ['email-draftor', 'email-drafter'],
    ['e-mail-drafter', 'email-drafter'],
    ['t0do-manager', 'todo-manager'],
    ['todos-manager', 'todo-manager'],
    ['docurnent-ana1yzer', 'document-analyzer'],
    ['document-analyser', 'document-analyzer'],
  ])('%s', (slug, meant) => {
    expect(lookAlike(slug)).toBe(meant)
  })

  test.each(['email-writer', 'letter-drafter', 'todo', 'document-summarizer', 'project-manager', 'meeting-planner'])(
    '%s is none',
    (slug) => {
      expect(lookAlike(slug)).toBeNull()
    },
  )

  test('is not that of the skill itself', () => {
    for (const { slug } of STARTERS) expect(lookAlike(slug)).toBeNull()
  })

  test('goes to a person, who is told of what it looks like', async () => {
    const author = await world.person()
    const { reply, id } = await submit(author, manifest({ slug: 'emai1-drafter' }))
    expect(reply.status).toBe(201)
    expect(reply.body.submission).toMatchObject({ status: 'pending_review', reviewTier: 'staff', autoApproved: false })
    const text = 'warn: The slug "emai1-drafter" looks like "email-drafter", a skill that ships with this server.'
    expect(reply.body.review.checks.slug_unique).toBe(text)
    expect((await author.send('GET', `skills/submissions/${id}`)).body.submission.review.checks.slug_unique).toBe(text)
    const { evidence } = (await submissionRepository.find(world.app.store.read, id as SubmissionId))!
    expect(evidence).toContainEqual(expect.objectContaining({ check: 'slug_unique', path: 'slug', severity: 'warn' }))
  })
})
