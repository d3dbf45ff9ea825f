import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import type { CompletionRequest, CompletionService } from '../completions'
import { findEngine } from '../engines'
import { storeAnswer } from '../idempotency'
import { bind } from '../kernel/bind'
import type { Call, Caller } from '../kernel/caller'
import { iso } from '../kernel/clock'
import type { Values } from '../kernel/config'
import { AppError } from '../kernel/errors'
import { type PageRequest, pagesOfLarge } from '../kernel/keyset'
import { isLicense } from '../kernel/license'
import { microToCents } from '../kernel/money'
import { mapPage, type Page, type PageQuery } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
import { isUniqueViolation, type Reader, type Tx } from '../kernel/store'
import { clean, isBlank, slugOf } from '../kernel/text'
import { createResource, type Resource, type ResourceDeps } from '../resource'
import { quotesOf, type SkillService } from '../skills'
import type { SkillId } from '../skills/schema'
import { type Compilation, compileCanvas } from './canvases-compile'
import { EMPTY_GRAPH, storable } from './canvases-graph'
import {
  type CanvasId,
  type CanvasPatch,
  type CanvasProblem,
  type CanvasVersion,
  CanvasVersionId,
  type NewCanvas,
  type Published,
  type PublishInput,
  type PublishRefusal,
  type TestInput,
} from './canvases-schema'
import type { About } from './canvases-steps'
import type { canvasSettings } from './config'
import { automationErrors, blankMessage, noLicense, nothingToChange } from './errors'
import { canvas } from './resource'
import { type CanvasRow, type CanvasVersionRow, canvasVersions } from './table'

/** The dependencies of the canvas verbs. */
type Deps = {
  resources: ResourceDeps
  canvases: Resource<typeof canvas>
  skills: Pick<SkillService, 'examine' | 'submitIn' | 'get'>
  completions: CompletionService
}

export type CanvasService = ReturnType<typeof createCanvases>

const versions = rowsOf(canvasVersions)

/** All verbs of canvases. Deleting a canvas deletes its versions. The published skill remains. */
export function createCanvases(modules: Omit<Deps, 'canvases'> & { settings: Values<typeof canvasSettings> }) {
  const canvases = createResource(modules.resources, canvas, {
    max: modules.settings.maxCanvases,
    async read(sent) {
      const { name, description, graph_json } = sent as NewCanvas
      return { name, description, ...storable(graph_json ?? EMPTY_GRAPH) }
    },
    async changed(tx, { verb, row }) {
      if (verb === 'deleted') await versions.remove(tx, { canvas_id: row.id })
    },
  })
  const deps: Deps = { ...modules, canvases }
  return {
    canvases: { ...canvases, ...bind(deps, { update: updateCanvas }) },
    compiled: compileRow,
    ...bind(deps, {
      compile: compileStored,
      test: testCanvas,
      publish: publishCanvas,
      listVersions,
      restore: restoreVersion,
    }),
  }
}

/** State after the graph changed: a draft without a compilation. */
const UNCOMPILED = { status: 'draft', manifest: null, steps: null } as const

type Compiled = Extract<Compilation, { compiled: true }>
/** Why a canvas did not compile. Nothing was changed. */
type Unbuilt = { problems: CanvasProblem[] }

/** Maximum length of the slug used until the author sets one. */
const MAX_SLUG_CHARS = 64

/** Compiles the current graph. `about` overrides the manifest members derived from the canvas. */
function compileRow({ graph, name, description }: CanvasRow, about: Partial<About> = {}): Compilation {
  const slug = slugOf(name, MAX_SLUG_CHARS)
  return compileCanvas(graph, {
    name: clean(name).replace(/\s+/g, ' ').trim() || 'Canvas',
    description: description ?? '',
    slug: slug.length < 2 ? 'canvas' : slug,
    version: '1.0.0',
    author: { name: 'Canvas author' },
    ...about,
  })
}

/**
 * `PATCH /evi/canvases/{id}`: a different graph discards the compilation and makes the canvas a draft. Does not use the
 * generic update, because the decision needs the locked row.
 */
async function updateCanvas({ resources, canvases }: Deps, call: Call<Caller>, id: string, patch: CanvasPatch) {
  const { name, description, graph_json, is_public } = patch
  const sent = { name, description, graph_json, is_public }
  const fields = Object.entries(sent).flatMap(([field, value]) => (value === undefined ? [] : [field]))
  const drawn = graph_json && storable(graph_json)
  return resources.store.write(async (tx) => {
    const row = await canvases.findToChange(tx, call.caller, id)
    if (!fields.length) throw nothingToChange()
    const columns = {
      ...defined({ name, is_public }),
      ...(description === undefined ? {} : { description }),
      ...(drawn && !isDeepStrictEqual(drawn.graph, row.graph) ? { ...drawn, ...UNCOMPILED } : {}),
    }
    return canvases.present(tx, await canvases.change(tx, { call, verb: 'updated', row }, columns, { fields }))
  })
}

/** `POST …/compile`: stores the result of a successful compilation and sets the status to `testing`. */
function compileStored({ resources: { store }, canvases }: Deps, call: Call, id: string) {
  return store.write(async (tx) => {
    const row = await canvases.findToChange(tx, call.caller, id)
    const built = compileRow(row)
    if (!built.compiled) return { problems: built.problems }
    const { manifest, steps, warnings } = built
    await canvases.change(tx, { call, verb: 'compiled', row }, { manifest, steps, status: 'testing' })
    const errors: [] = []
    return storeAnswer(tx, call, { compiled: true as const, manifest, steps, errors, warnings })
  })
}

type Tried = { response: string | null; cost_cents: number }

/** Maximum number of tool-calling iterations for a canvas under test. */
const ITERATIONS = 4

/**
 * `POST …/test`: answers one message with the canvas in its current state, billed like any completion. Throws 404, 400,
 * 402, 429, and engine errors.
 */
async function testCanvas(deps: Deps, call: Call, id: string, input: TestInput): Promise<Tried | Unbuilt> {
  const { resources, canvases, completions } = deps
  const row = await canvases.find(resources.store.read, call.caller, id)
  if (isBlank(input.message)) throw blankMessage()
  const built = compileRow(row)
  if (!built.compiled) return { problems: built.problems }
  const request = requestOfTry(built, input, (tx) => canvases.record(tx, { call, verb: 'tested', row }))
  return completions.pipeline.complete(call, request)
}

/**
 * The completion request that tests a canvas (docs/api.md 9.2). Its prompts are the system prompt, its first model
 * answers, and its tools are acknowledged but never called. Reaches nothing external and stores no conversation.
 */
function requestOfTry(
  { manifest, steps }: Pick<Compiled, 'manifest' | 'steps'>,
  input: TestInput,
  alongside: NonNullable<CompletionRequest['alongside']>,
): CompletionRequest<Tried> {
  const engine = manifest.modelPreference ? findEngine(manifest.modelPreference) : null
  const writes = engine?.kind === 'text' && engine.mode !== 'auto' ? engine : null
  const temperature = steps.find(({ type }) => type === 'ai_transform')?.config.temperature
  // The canvas's prompts and the knowledge quotes for this message, selected as for a published skill.
  const quotes = quotesOf(manifest, input.message)
  const system = [manifest.systemPromptExtension, ...quotes].filter(Boolean).join('\n\n')
  return {
    prompt: input.message,
    mode: (writes?.mode as CompletionRequest['mode'] | undefined) ?? 'auto',
    engine: writes?.id ?? null,
    overrides: {},
    voice: {
      personality: null,
      style: null,
      branding: false,
      componentLibrary: 'svc',
      persona: system ? { system_prompt: system } : 'svc',
    },
    usesSoul: false,
    context: input.history ?? [],
    after: [],
    images: [],
    skills: [],
    conversation: 'none',
    temperature: typeof temperature === 'number' ? temperature : undefined,
    tools: manifest.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      ...(inputSchema ? { input_schema: inputSchema } : {}),
    })),
    sealed: true,
    maxIterations: ITERATIONS,
    functions: null,
    json: false,
    checkJson: null,
    metadata: null,
    cache: 'off',
    wantsFollowUps: false,
    present: ({ costMicro }, { content }) => ({ response: content, cost_cents: microToCents(costMicro) }),
    alongside,
    shape: null,
    warnings: [],
  }
}

type Outcome = Published | PublishRefusal

/**
 * `POST …/publish` (docs/api.md 9.3): compiles the canvas and submits it as a skill, or as a new version of the skill
 * it was published as. One transaction: nothing is stored when the canvas does not compile or pass review. Throws 404,
 * 400 for `org` without an org, 403 for an org the caller may not publish to, 409 while the skill is suspended or when
 * the canvas changed meanwhile, 429.
 */
async function publishCanvas(deps: Deps, call: Call, id: string, input: PublishInput): Promise<Outcome> {
  const { store } = deps.resources
  const row = await deps.canvases.find(store.read, call.caller, id)
  const { slug, version, author, readme, license, keywords } = input
  if (license !== undefined && !isLicense(license)) throw noLicense(license)
  const built = compileRow(row, { slug, version, author, ...defined({ readme, license, keywords }) })
  if (!built.compiled) return refused(input, { errors: built.problems })
  const unit = await submission(deps, call, row, input, built)
  try {
    return await store.write(unit)
  } catch (error) {
    // The slug was taken between the check and the insert. The second attempt reports it.
    if (isUniqueViolation(error)) return store.write(unit)
    throw error
  }
}

/** Does all work outside the transaction first. Returns the transaction, which may run twice. */
async function submission(deps: Deps, call: Call, row: CanvasRow, input: PublishInput, built: Compiled) {
  const { resources, canvases, skills } = deps
  const { visibility = 'private', target_org_id } = input
  const { manifest, steps, warnings } = built
  const examined = await skills.examine(manifest)
  // The skill of an organization's canvas belongs to the organization, whichever member publishes it.
  const by = call.caller.type === 'session' ? { ...call, caller: { ...call.caller, orgId: row.org_id } } : call
  const skill_id = row.published_skill_id && (await existing(skills, by, row.published_skill_id))
  return async (tx: Tx): Promise<Outcome> => {
    const locked = await canvases.findToChange(tx, call.caller, row.id)
    if (locked.updated_at !== row.updated_at) throw automationErrors.changedMeanwhile()
    const outcome = await skills.submitIn(tx, by, { manifest, skill_id, visibility, target_org_id }, examined)
    if (!outcome.accepted) return refused(input, { review: outcome.review })
    const { skillId, id, status, reviewTier, autoApproved } = outcome.submission
    await versions.insert(tx, {
      id: CanvasVersionId.create(),
      canvas_id: row.id,
      version: manifest.version,
      graph: row.graph,
      graph_bytes: row.graph_bytes,
      manifest,
      visibility,
      skill_id: skillId,
      submission_id: id,
      created_at: resources.clock.now(),
    })
    const is_public = visibility === 'public'
    const columns = { manifest, steps, status: 'published', published_skill_id: skillId, is_public } as const
    const metadata = { skill_id: skillId, submission_id: id, version: manifest.version, visibility }
    await canvases.change(tx, { call, verb: 'published', row: locked }, columns, { metadata })
    const submission = { id, status, reviewTier, autoApproved }
    return storeAnswer(tx, call, { published: true, visibility, submission, skillId, warnings })
  }
}

/** The skill a canvas was published as. Null when its author has deleted it. */
async function existing(skills: Deps['skills'], call: Call, id: SkillId): Promise<SkillId | null> {
  try {
    return (await skills.get(call, id)).id
  } catch (error) {
    if (error instanceof AppError && error.kind === 'missing') return null
    throw error
  }
}

const refused = (
  { visibility = 'private' }: PublishInput,
  why: Pick<PublishRefusal, 'errors' | 'review'>,
): PublishRefusal => ({ published: false, visibility, submission: null, skillId: null, ...why })

/** Drops undefined members. */
const defined = <T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never

const newestFirst = pagesOfLarge(canvasVersions, 'created_at', 'graph_bytes')

/** The published versions of a canvas. The caller has checked the owner of the canvas. */
export const versionsOf = (db: Reader, canvasId: CanvasId, wanted: PageRequest): Promise<Page<CanvasVersionRow>> =>
  newestFirst(db, wanted, eq(db.of(canvasVersions).canvas_id, canvasId))

/** `GET /evi/canvases/{id}/versions`: newest first. */
async function listVersions(deps: Deps, { caller }: Call, id: string, query: PageQuery): Promise<Page<CanvasVersion>> {
  const { read } = deps.resources.store
  const canvas = await deps.canvases.find(read, caller, id)
  return mapPage(await versionsOf(read, canvas.id, query), (row) => ({
    id: row.id,
    version: row.version,
    graphJson: row.graph,
    compiledManifest: row.manifest,
    visibility: row.visibility,
    skillId: row.skill_id,
    submissionId: row.submission_id,
    createdAt: iso(row.created_at),
  }))
}

/** `POST …/versions/{versionId}/restore`: makes the version's graph the current one, as a draft. */
function restoreVersion({ resources: { store }, canvases }: Deps, call: Call, id: string, versionId: string) {
  return store.write(async (tx) => {
    const row = await canvases.findToChange(tx, call.caller, id)
    const found = CanvasVersionId.is(versionId) && (await versions.first(tx, { id: versionId, canvas_id: row.id }))
    if (!found) throw automationErrors.versionNotFound()
    const { graph, graph_bytes, version } = found
    const input = { fields: ['graph_json'], metadata: { restored_version: version } }
    const about = { call, verb: 'updated', row }
    const restored = await canvases.change(tx, about, { graph, graph_bytes, ...UNCOMPILED }, input)
    return storeAnswer(tx, call, await canvases.present(tx, restored))
  })
}
