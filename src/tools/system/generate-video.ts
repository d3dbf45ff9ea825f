import { AppError } from '../../kernel/errors'
import type { VideoService } from '../../media'
import { type Tool, ToolFailure } from '../tool'

const MAX_SECONDS = 60
const SECONDS = 5

/**
 * The `generate_video` tool: puts a video in line and gives its job, because a video takes longer than an answer. It
 * counts towards the rate of videos and is charged by itself, as `POST /video` is.
 */
export const createGenerateVideo = ({ video }: { video: Pick<VideoService, 'start'> }): Tool => ({
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
  permissionLevel: 'user',
  scope: 'completions',
  requiresApproval: false,
  skillId: null,
  timeoutMs: 10_000,
  async run({ prompt, seconds = SECONDS }, { call, signal }) {
    try {
      const input = { prompt: String(prompt), duration: `${seconds}s` }
      const { job_id, status, poll_url } = await video.start({ ...call, signal, once: undefined }, input)
      return { job_id, status, poll_url }
    } catch (error) {
      if (error instanceof AppError && error.kind !== 'broken') throw new ToolFailure(error.message)
      throw error
    }
  },
})
