import { AppError } from '../../kernel/errors'
import type { ImageService } from '../../media'
import { type ImageInput, ImageInput as Input } from '../../media/schema'
import { type Tool, ToolFailure } from '../tool'

const { style, aspect_ratio, count } = Input.properties

/** Has the image engine make pictures; it counts and is charged like `POST /images`. */
export const createGenerateImage = ({ images }: { images: Pick<ImageService, 'create'> }): Tool => ({
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
  permissionLevel: 'user',
  scope: 'completions',
  requiresApproval: false,
  skillId: null,
  timeoutMs: 120_000,
  keeps: true,
  async run(args, { call, signal, made: notify }) {
    try {
      // The answer to the request is that of the run, and is stored with it.
      const { id, images: made, usage } = await images.create({ ...call, once: undefined, signal }, args as ImageInput)
      notify?.({ artifacts: made.flatMap(({ artifact_id }) => artifact_id ?? []), costCents: usage.cost_cents })
      return { id, images: made.map(({ url, artifact_id, engine }) => ({ url, artifact_id, engine })) }
    } catch (error) {
      if (error instanceof AppError && error.kind !== 'broken') throw new ToolFailure(error.message)
      throw error
    }
  },
})
