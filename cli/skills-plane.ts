import type { OpsClient } from '../src/app/client'
import type { Connection, TenantPlane } from './connection'
import { expectData, usageFailure } from './failure'
import type { PageOrder } from './pages'

type Listed = { items: object[]; next: string | null }
type SkillWords = PageOrder & {
  installed?: boolean | undefined
  category?: string | undefined
  status?: string | undefined
  owner?: string | undefined
  key?: string | undefined
}

/** Skills over either API: operators see everyone's, tenants what they are allowed to see (dx 2.11). */
export type SkillPlane = {
  list(words: SkillWords): Promise<Listed>
  get(ref: string): Promise<object>
  versions(ref: string): Promise<object[]>
  reviews(ref: string, page: PageOrder): Promise<Listed>
  install(slug: string, key: string | undefined): Promise<object>
  uninstall(slug: string, key: string | undefined): Promise<object>
}

export async function skillsOver(connection: Connection): Promise<SkillPlane> {
  return connection.plane === 'tenant' ? ownSkills(await connection.tenant()) : anySkills(connection.ops())
}

const given = <T extends object>(words: T): T =>
  Object.fromEntries(Object.entries(words).filter(([, word]) => word !== undefined)) as T
const pathOf = (word: string): string => encodeURIComponent(word)

function anySkills(ops: OpsClient): SkillPlane {
  const one = (ref: string) => ops.skills({ ref: pathOf(ref) })
  const forKey = (slug: string, key: string | undefined) => {
    if (key === undefined) {
      throw usageFailure(
        'It is the owner of a key who has a skill, and no key is named.',
        'add --key KEY; svc-admin keys list shows them',
      )
    }
    return ops.keys({ ref: pathOf(key) }).skills({ slug: pathOf(slug) })
  }
  return {
    list: async (words) => {
      if (words.installed && words.owner === undefined && words.key === undefined) {
        throw usageFailure('--installed asks what somebody has installed.', 'add --key KEY, or --org NAME')
      }
      if (words.key !== undefined && !words.installed) {
        throw usageFailure('--key says whose installed skills to list.', 'add --installed')
      }
      const found = expectData(await ops.skills.get({ query: given(words) as never }))
      return { items: found.skills, next: found.next_cursor }
    },
    get: async (ref) => expectData(await one(ref).get()),
    versions: async (ref) => expectData(await one(ref).versions.get()).versions,
    reviews: async (ref, page) => {
      const found = expectData(await one(ref).reviews.get({ query: given(page) }))
      return { items: found.reviews, next: found.next_cursor }
    },
    install: async (slug, key) => expectData(await forKey(slug, key).put()),
    uninstall: async (slug, key) => expectData(await forKey(slug, key).delete()),
  }
}

function ownSkills({ client }: TenantPlane): SkillPlane {
  const one = (id: string) => client.skills({ id: pathOf(id) })
  const ownOnly = (key: string | undefined) => {
    if (key !== undefined) throw usageFailure('--key belongs to the operator plane; here it is the key in use.')
  }
  return {
    list: async ({ installed, status, owner, key, ...words }) => {
      ownOnly(key)
      if (status || owner) throw usageFailure('--status and --org belong to the operator plane.')
      const filter = installed ? ('installed' as const) : ('marketplace' as const)
      const found = expectData(await client.skills.get({ query: { filter, ...given(words) } as never }))
      return { items: found.skills, next: found.next_cursor }
    },
    get: async (ref) => expectData(await one(ref).get()),
    versions: async (ref) => expectData(await one(ref).versions.get()).versions,
    reviews: async (ref, page) => {
      const found = expectData(await one(ref).reviews.get({ query: given(page) }))
      return { items: found.reviews, next: found.next_cursor }
    },
    install: async (slug, key) => {
      ownOnly(key)
      return expectData(await client.skills.post({ slug }))
    },
    uninstall: async (slug, key) => {
      ownOnly(key)
      return expectData(await client.skills.delete({ slug }))
    },
  }
}
