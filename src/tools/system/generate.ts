import { AppError } from '../../kernel/errors'
import { beginningOf } from '../../kernel/text'
import { artifactOf, type CodeService, type Documents, type ImageService, type VideoService } from '../../media'
import { FORMATS, type Format, type ImageInput, ImageInput as Input } from '../../media/schema'
import type { ResearchService } from '../../research'
import { systemTool, type Tool, ToolFailure } from '../tool'

/**
 * A tool that does the same as a separate request could. Its response is part of the run and stored with it. When it is
 * rejected, the engine reads the reason.
 */
const generated = (tool: Parameters<typeof systemTool>[0]): Tool =>
  systemTool({
    ...tool,
    scope: 'completions',
    async run(args, context) {
      try {
        return await tool.run(args, {
          ...context,
          call: { ...context.call, once: undefined, signal: context.signal },
        })
      } catch (error) {
        if (error instanceof AppError && error.kind !== 'broken') throw new ToolFailure(error.message)
        throw error
      }
    },
  })

/** Maximum number of characters of the answer that the run's engine reads. */
const MAX_CODE_CHARS = 30_000

/** The code engine writes a program. Charged like `POST /code`. */
export const createGenerateCode = ({ code }: { code: Pick<CodeService, 'create'> }): Tool =>
  generated({
    name: 'generate_code',
    description:
      'Has a specialised engine write a program or several files, keeps them as files with links, and checks their ' +
      'syntax. For whole programs and projects; short snippets are better written directly.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['prompt'],
      properties: {
        prompt: { type: 'string', minLength: 1, maxLength: 20_000, description: 'What the code should do' },
        language: { type: 'string', maxLength: 64 },
        framework: { type: 'string', maxLength: 64 },
      },
    },
    outputSchema: {
      type: 'object',
      required: ['id', 'content', 'files', 'problems'],
      properties: {
        id: { type: 'string' },
        content: { type: 'string' },
        files: { type: 'array', items: { type: 'object' } },
        problems: { type: 'array', items: { type: 'object' } },
      },
    },
    category: 'code',
    timeoutMs: 120_000,
    keeps: true,
    async run(args, { call, made: notify }) {
      const input = {
        prompt: String(args.prompt),
        ...(args.language === undefined ? {} : { language: String(args.language) }),
        ...(args.framework === undefined ? {} : { framework: String(args.framework) }),
      }
      const made = await code.create(call, input)
      notify?.({ artifacts: made.artifacts.map(({ id }) => id), costCents: made.usage.cost_cents })
      return {
        id: made.id,
        content: beginningOf(made.content, MAX_CODE_CHARS),
        files: made.artifacts.map(({ id, filename, language, url }) => ({ id, filename, language, url })),
        problems: made.checks.filter(({ status }) => status === 'error'),
      }
    },
  })

const MAX_DOCUMENT_CHARS = 200_000

/** Converts the engine's text to a file and returns its address. Free, because the run pays for the text. */
export const createGenerateDocument = ({ documents }: { documents: Pick<Documents, 'layOut'> }): Tool =>
  generated({
    name: 'generate_document',
    description:
      'Makes a file (PDF, Word, PowerPoint, Excel or CSV) of a text in Markdown and gives a link to it. Slides begin at ' +
      '## headings, sheets are the tables. A fence labelled chart, with lines "type: bar" (or line, area, pie) and ' +
      '"title: ...", then CSV, becomes a chart.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['title', 'content', 'format'],
      properties: {
        title: { type: 'string', minLength: 1, maxLength: 200, description: 'Title of the document' },
        content: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_DOCUMENT_CHARS,
          description: 'The whole text, in Markdown',
        },
        format: { type: 'string', enum: [...FORMATS] },
      },
    },
    outputSchema: {
      type: 'object',
      required: ['id', 'title', 'format', 'download_url', 'size_bytes'],
      properties: {
        id: { type: 'string' },
        title: { type: 'string' },
        format: { type: 'string' },
        download_url: { type: ['string', 'null'] },
        size_bytes: { type: ['integer', 'null'] },
      },
    },
    category: 'documents',
    timeoutMs: 40_000,
    keeps: true,
    async run(args, { call, made }) {
      const text = { title: String(args.title), markdown: String(args.content), format: args.format as Format }
      const laid = await documents.layOut(call, text)
      const { id, title, format, download_url, size_bytes } = laid
      made?.({ artifacts: [artifactOf(id)], costCents: laid.usage.cost_cents })
      return { id, title, format, download_url, size_bytes }
    },
  })

const { style, aspect_ratio, count } = Input.properties

/** The image engine makes images. Counts towards the limits and is charged like `POST /images`. */
export const createGenerateImage = ({ images }: { images: Pick<ImageService, 'create'> }): Tool =>
  generated({
    name: 'generate_image',
    description:
      'Makes pictures from a description, keeps them as files and gives links to them. For illustrations, posters, ' +
      'logos, icons, and charts whose numbers stand in the description.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['prompt'],
      properties: {
        prompt: { type: 'string', minLength: 1, maxLength: 4_000, description: 'What to show' },
        style,
        aspect_ratio,
        count,
      },
    },
    outputSchema: {
      type: 'object',
      required: ['id', 'images'],
      properties: { id: { type: 'string' }, images: { type: 'array', items: { type: 'object' } } },
    },
    category: 'media',
    timeoutMs: 120_000,
    keeps: true,
    async run(args, { call, made: notify }) {
      const { id, images: made, usage } = await images.create(call, args as ImageInput)
      notify?.({ artifacts: made.flatMap(({ artifact_id }) => artifact_id ?? []), costCents: usage.cost_cents })
      return { id, images: made.map(({ url, artifact_id, engine }) => ({ url, artifact_id, engine })) }
    },
  })

const MAX_SECONDS = 60
const SECONDS = 5

/**
 * The `generate_video` tool: queues a video and returns its job, because a video takes longer than an answer. Counts
 * towards the video rate limit and is charged separately, as `POST /video` is.
 */
export const createGenerateVideo = ({ video }: { video: Pick<VideoService, 'start'> }): Tool =>
  generated({
    name: 'generate_video',
    description:
      'Starts making a short video (MP4) of a description and gives the job to follow. The video is not ready when this answers: say where it will be.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['prompt'],
      properties: {
        prompt: { type: 'string', minLength: 1, maxLength: 4_000, description: 'What the video shows' },
        seconds: { type: 'integer', minimum: 1, maximum: MAX_SECONDS, description: `${SECONDS} unless given` },
      },
    },
    outputSchema: {
      type: 'object',
      required: ['job_id', 'status', 'poll_url'],
      properties: { job_id: { type: 'string' }, status: { type: 'string' }, poll_url: { type: 'string' } },
    },
    category: 'media',
    timeoutMs: 10_000,
    async run({ prompt, seconds = SECONDS }, { call }) {
      const input = { prompt: String(prompt), duration: `${seconds}s` }
      const { job_id, status, poll_url } = await video.start(call, input)
      return { job_id, status, poll_url }
    },
  })

const MAX_SOURCES = 10
const SOURCES = 5
/** Shorter than the tool's time limit. Longer research is a separate job (docs/api.md 7). */
const RESEARCH_MS = 110_000

/**
 * The `deep_research` tool: a report from several sources, with numbered citations. Counts towards the research rate
 * limit and is charged separately, as `POST /research` is.
 */
export const createDeepResearch = ({ research }: { research: Pick<ResearchService, 'answer'> }): Tool =>
  systemTool({
    name: 'deep_research',
    description:
      'Searches and reads several sources for one question, and gives a report with numbered citations. Takes a minute; for single facts use web_search.',
    inputSchema: {
      type: 'object',
      properties: {
        question: {
          type: 'string',
          minLength: 3,
          maxLength: 4_000,
          description: 'The whole question. Addresses in it are read first.',
        },
        depth: { type: 'string', enum: ['basic', 'advanced'], description: 'basic unless given' },
        max_sources: { type: 'integer', minimum: 1, maximum: MAX_SOURCES, description: `${SOURCES} unless given` },
      },
      required: ['question'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        report: { type: 'string', description: 'Markdown' },
        citations: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              index: { type: 'integer' },
              title: { type: 'string' },
              url: { type: ['string', 'null'] },
            },
            required: ['index', 'title', 'url'],
          },
        },
      },
      required: ['report', 'citations'],
    },
    category: 'search',
    scope: 'completions',
    timeoutMs: RESEARCH_MS,
    async run({ question, depth = 'basic', max_sources = SOURCES }, { call, signal, made }) {
      const request = {
        prompt: question as string,
        depth: depth as 'basic' | 'advanced',
        maxSources: max_sources as number,
      }
      const { found, costCents } = await research.answer(call, request, signal)
      const { report, citations } = found
      made?.({ artifacts: [], costCents })
      return { report, citations: citations.map(({ index, title, url }) => ({ index, title, url })) }
    },
  })
