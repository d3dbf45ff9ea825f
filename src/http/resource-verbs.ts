import { pageFields } from '../kernel/page'
import { type TUnsafe, t } from '../kernel/schema'
import type { AnyNoun, ChangedOf, MadeOf, ReplyOf, Resource } from '../resource'
import { verb } from './verbs'

const Deleted = t.Object({ deleted: t.Literal(true) })

/** Mapped member by member, because a constraint would lose their types. */
type Words<N extends AnyNoun> = { [Word in keyof AnyNoun['words']]: N['words'][Word] }

/** The five routes of a resource, for `tenantRoutes` and `operatorRoutes`. */
export function resourceVerbs<const N extends AnyNoun>({
  resource: noun,
  ...resource
}: { resource: N } & NoInfer<Resource<N>>) {
  const { summaries } = noun
  const path: N['path'] = noun.path
  const { New, Patch, View, Query, Page }: Words<N> = noun.words
  const Reply = (noun.wrap ? t.Object({ [noun.wrap]: View }) : View) as unknown as TUnsafe<ReplyOf<N>>
  const Made = (noun.words.Made ?? Reply) as TUnsafe<MadeOf<N>>
  const Changed = (noun.words.Changed ?? Reply) as TUnsafe<ChangedOf<N>>
  const one = `${path}/:id` as const
  const holds = noun.holds ?? 'content'
  return [
    verb.post(
      path,
      {
        body: New,
        reply: Made,
        creates: true,
        holds,
        owned: true,
        errors: noun.createErrors ?? [],
        summary: summaries.create,
      },
      (call, { body, owner }) => resource.create(call, body as never, { owner }),
    ),
    verb.get(
      path,
      { query: Query, reply: Page, owned: true, holds, summary: summaries.list },
      async (call, { query, owner }) => {
        const page = await resource.list(call, query as never, { owner })
        return { [noun.plural]: page.items, ...pageFields(page) } as never
      },
    ),
    verb.get(one, { reply: Reply, holds, summary: summaries.get }, (call, { id }) => resource.get(call, id)),
    verb.patch(
      one,
      { body: Patch, reply: Changed, errors: [409], holds, summary: summaries.update },
      (call, { id, body }) => resource.update(call, id, body as never),
    ),
    verb.delete(one, { reply: Deleted, summary: summaries.remove }, (call, { id }) => resource.remove(call, id)),
  ] as const
}
