import { createUpstreamWorld } from '../../completions/upstream-world'
import { manifest, reviewer, submit } from '../../skills/support'
import { fakeClock } from '../../support/clock'
import type { Person, Reply } from '../../support/world'

/** The product with a clock by hand, a scripted upstream, and skills to run. */
export async function createHookWorld(clock = fakeClock('2030-01-01T12:00:00.000Z')) {
  const { world, upstream } = await createUpstreamWorld({ clock })
  const { jobs } = world.app.container
  const admin = await reviewer(world)
  const author = await world.person()
  const submissions = new Map<string, string>()
  /** Runs what is due: events, hooks and their runs. */
  const settle = async () => {
    for (let done = 1; done > 0; ) {
      done = 0
      for (const kind of ['hooks.fire', 'skills.run']) done += await jobs.runDue(kind)
    }
  }
  return {
    world,
    upstream,
    clock,
    jobs,
    admin,
    settle,
    /** The slug of a new public skill. */
    async skill(members: Record<string, unknown> = {}): Promise<string> {
      const made = await submit(author, manifest(members))
      if (made.reply.body.submission.status === 'pending_review') await admin.decide(made.id, 'approve')
      submissions.set(made.slug, made.id)
      return made.slug
    },
    /** Suspends a skill of `skill`, or brings it back. */
    decide: (slug: string, decision: 'suspend' | 'reinstate') =>
      admin.decide(submissions.get(slug)!, decision, 'Test.'),
    install: async (person: Person, input: object): Promise<Reply> => person.send('POST', 'hooks', input),
    publish: (person: Person, eventType: string, payload: unknown = {}) =>
      person.send('POST', 'events', { orgId: person.orgId ?? person.userId, eventType, payload }),
    history: async (person: Person, id: string) => (await person.send('GET', `hooks/${id}?limit=100`)).body,
  }
}
