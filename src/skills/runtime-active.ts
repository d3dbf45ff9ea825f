import { LRUCache } from 'lru-cache'
import type { OrgService } from '../accounts'
import { type Call, type Caller, type OwnerScope, ownerOf } from '../kernel/caller'
import { createReadCache } from '../kernel/read-cache'
import type { Store } from '../kernel/store'
import { shorten } from '../kernel/text'
import type { Tool, Tools } from '../tools'
import { skillRepository as rows } from './repository'
import { installRepository as installs } from './repository-installs'
import { maySee, runnableVersion, type Viewer } from './rules'
import {
  type Activation,
  compose,
  type Installed,
  installedAs,
  type Loaded,
  loadVersion,
  NO_SKILLS,
  readPrompt,
  requestedWords,
  statedIn,
  toolsByName,
  uninstalled,
} from './runtime'
import type { SkillId, VersionId } from './schema'
import { viewerOf } from './service/deps'
import type { SkillRow } from './table'

type Deps = {
  store: Store
  orgs: Pick<OrgService, 'orgIdsWith'>
  tools: Pick<Tools, 'ofSkill'>
}

type Shelf = { viewer: Viewer; bySlug: ReadonlyMap<string, Installed>; order: readonly Installed[] }
type Running = { skill: SkillRow; versionId: VersionId }
type Request = { slugs: readonly string[]; prompt: string }

const MAX_INSTALLED = 200
const MAX_ACTIVE = 40
/** Maximum number of passages of one skill that a research job reads. */
const MAX_OF_SKILL = 12
/** Maximum size of the cached manifests as JSON. The search indexes of their files take a few times as much memory. */
const MAX_KEPT_CHARS = 16_000_000

/** Selects the skills of a run. Caches each owner's installed skills until they change. */
export function createActivating({ store, orgs, tools }: Deps) {
  const shelves = createReadCache<OwnerScope, Shelf>({
    ...{ max: 5_000, changes: store.changes },
    tables: ['skills', 'skill_versions', 'skill_installations', 'users', 'members', 'orgs'],
  })
  /** Live versions are immutable, so each is loaded and indexed once for all owners. */
  const inForce = new LRUCache<VersionId, Loaded>({ maxSize: MAX_KEPT_CHARS, sizeCalculation: ({ chars }) => chars })

  return {
    /**
     * The skills of a run: enabled ones first, by priority and intensity, then those named in the request. A keyword
     * skill takes part when one of its keywords occurs in the prompt or the request names it. Runs no query while the
     * cache is valid.
     */
    activeFor(call: Call, request: Request): Activation | Promise<Activation> {
      const held = shelfOf(call)
      if (held instanceof Promise) return held.then((shelf) => activeOn(shelf, request))
      return held.order.length || request.slugs.length ? activeOn(held, request) : NO_SKILLS
    },

    /** Only the skills named in the request, not the owner's others. Used when strangers talk to the owner's AI. */
    async onlyNamed(call: Call, { slugs, prompt }: Request): Promise<Activation> {
      if (!slugs.length) return NO_SKILLS
      const { bySlug, viewer } = await shelfOf(call)
      const found = await Promise.all(slugs.map(async (slug) => bySlug.get(slug) ?? (await named(slug, viewer))))
      return compose(
        found.filter((one) => one !== null && one !== undefined),
        prompt,
        [],
      )
    },

    /** Tools of all enabled skills, whether or not their trigger applies; names are unique. */
    async toolsOf(call: Call): Promise<readonly Tool[]> {
      const { order } = await shelfOf(call)
      return toolsByName(order.filter(({ enabled }) => enabled))
    },

    /** The passages relevant to a question in the knowledge files of all enabled skills, one text per file. */
    async knowledgeOf(call: Call, question: string): Promise<{ title: string; text: string }[]> {
      const { order } = await shelfOf(call)
      return order.flatMap(({ loaded, enabled }) =>
        enabled && loaded.knowledge
          ? statedIn(loaded.slug, loaded.knowledge(requestedWords(question), MAX_OF_SKILL))
          : [],
      )
    },

    /** Tools of all enabled skills and of the named skills, each with the slug of its skill. */
    async everyTool(call: Call, slugs: readonly string[]): Promise<{ slug: string; tool: Tool }[]> {
      const { order, bySlug, viewer } = await shelfOf(call)
      const own = order.filter(({ enabled, loaded }) => enabled || slugs.includes(loaded.slug))
      const others = await Promise.all(slugs.filter((slug) => !bySlug.has(slug)).map((slug) => named(slug, viewer)))
      const all = [...own, ...others].flatMap((one) => one?.loaded ?? [])
      return all.flatMap(({ slug, tools }) => tools.map((tool) => ({ slug, tool })))
    },

    /** One skill alone, installed or not. Null when the caller may not run it. */
    alone: async (call: Call, id: SkillId, prompt: string): Promise<Activation | null> =>
      aloneOf(call, await rows.find(store.read, id), prompt),

    /** Finds by slug a skill that the caller may run later. An operator gets any existing skill. */
    async runnable(caller: Caller, slug: string): Promise<SkillRow | null> {
      const row = await rows.bySlug(store.read, slug)
      if (!row || caller.type === 'operator') return row ?? null
      return runnableVersion(row, await viewerOf({ orgs }, store.read, caller)) ? row : null
    },

    aloneBySlug: async (call: Call, slug: string, prompt: string): Promise<Activation | null> =>
      aloneOf(call, await rows.bySlug(store.read, slug), prompt),

    /** Drops the cached skills of one owner, or of everyone with null. */
    forget(owner: OwnerScope | null): void {
      if (owner) shelves.forget(owner)
      else shelves.clear()
    },
  }

  async function activeOn(shelf: Shelf, { slugs, prompt }: Request): Promise<Activation> {
    if (!shelf.order.length && !slugs.length) return NO_SKILLS
    const wanted = new Set(slugs)
    const request = readPrompt(prompt)
    const warnings: string[] = []
    const own = shelf.order.filter((one) => {
      if (wanted.has(one.loaded.slug)) return true
      if (!one.enabled || one.loaded.waits) return false
      return one.loaded.keywords === null || one.loaded.keywords.occurIn(request)
    })
    const chosen = withinLimit(own, wanted, warnings)
    for (const slug of wanted) {
      if (chosen.some(({ loaded }) => loaded.slug === slug)) continue
      const found = shelf.bySlug.get(slug) ?? (await named(slug, shelf.viewer))
      if (found) chosen.push(found)
      else warnings.push(`There is no skill "${shorten(slug, 64)}", so it was skipped.`)
    }
    return compose(chosen, prompt, warnings)
  }

  async function aloneOf(call: Call, row: SkillRow | undefined, prompt: string): Promise<Activation | null> {
    const viewer = await viewerOf({ orgs }, store.read, call.caller)
    const versionId = row ? runnableVersion(row, viewer) : null
    const loaded = row && versionId ? (await loadedOf([{ skill: row, versionId }])).get(versionId) : undefined
    if (!row || !loaded) return null
    const installation = await installs.find(store.read, viewer.owner, row.id)
    return compose([installation ? installedAs(loaded, installation) : uninstalled(loaded)], prompt, [])
  }

  /** Cached per owner: a user's own keys and an org's key see different skills. */
  function shelfOf(call: Call): Shelf | Promise<Shelf> {
    const owner = ownerOf(call.caller)
    return (shelves.known(owner) ?? shelves.get(owner, () => readShelf(call))) as Shelf | Promise<Shelf>
  }

  async function readShelf({ caller }: Call): Promise<Shelf> {
    const viewer = await viewerOf({ orgs }, store.read, caller)
    const all = await installs.all(store.read, viewer.owner, MAX_INSTALLED)
    const running = all.flatMap(({ skill, installation }) => {
      const versionId = runnableVersion(skill, viewer)
      return versionId ? [{ skill, installation, versionId }] : []
    })
    const loaded = await loadedOf(running)
    const order = running.flatMap(({ installation, versionId }) => {
      const one = loaded.get(versionId)
      return one ? [installedAs(one, installation)] : []
    })
    return { viewer, order, bySlug: new Map(order.map((one) => [one.loaded.slug, one])) }
  }

  /** A skill that the request names but the owner has not installed. Null unless the caller may see it. */
  async function named(slug: string, viewer: Viewer): Promise<Installed | null> {
    const row = await rows.bySlug(store.read, slug)
    if (!row || !maySee(row, viewer)) return null
    const versionId = runnableVersion(row, viewer)
    if (!versionId) return null
    const loaded = (await loadedOf([{ skill: row, versionId }])).get(versionId)
    return loaded ? uninstalled(loaded) : null
  }

  /** Loads versions, keyed by id. Caches only live versions, because authors may change drafts. */
  async function loadedOf(wanted: readonly Running[]): Promise<Map<VersionId, Loaded>> {
    const found = new Map<VersionId, Loaded>()
    for (const { versionId } of wanted) {
      const known = inForce.get(versionId)
      if (known) found.set(versionId, known)
    }
    const missing = new Map(wanted.filter(({ versionId }) => !found.has(versionId)).map((one) => [one.versionId, one]))
    for (const version of await rows.withVersions(store.read, [...missing.keys()])) {
      const { skill, versionId } = missing.get(version.id)!
      const loaded = loadVersion({ toolsOf: tools.ofSkill }, skill, version)
      if (skill.live_version_id === versionId) inForce.set(versionId, loaded)
      found.set(versionId, loaded)
    }
    return found
  }
}

/** Limits the skills of a run and keeps the named ones first. Adds a warning with the number of skills left out. */
function withinLimit(own: readonly Installed[], wanted: ReadonlySet<string>, warnings: string[]): Installed[] {
  let room = MAX_ACTIVE - wanted.size
  const chosen = own.filter((one) => wanted.has(one.loaded.slug) || room-- > 0)
  const omitted = own.length - chosen.length
  if (omitted > 0)
    warnings.push(`At most ${MAX_ACTIVE} skills take part in a run: ${omitted} installed skills were left out.`)
  return chosen
}
