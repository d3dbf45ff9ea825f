import type { CodeService, Documents, ImageService, VideoService } from '../../media'
import type { ResearchService, Web } from '../../research'
import type { Tool } from '../tool'
import { createCodeExecute } from './code-execute'
import {
  createDeepResearch,
  createGenerateCode,
  createGenerateDocument,
  createGenerateImage,
  createGenerateVideo,
} from './generate'
import { createWebFetch, createWebSearch } from './web'

type Deps = {
  web: Web
  code: Pick<CodeService, 'create'>
  documents: Pick<Documents, 'layOut'>
  images: Pick<ImageService, 'create'>
  research: Pick<ResearchService, 'answer'>
  video: Pick<VideoService, 'start'>
}

/** The system tools of this module. Later modules register theirs. */
export const createSystemTools = ({ web, code, documents, images, research, video }: Deps): Tool[] => [
  createWebSearch({ web }),
  createWebFetch({ web }),
  createCodeExecute(),
  createGenerateCode({ code }),
  createGenerateDocument({ documents }),
  createGenerateImage({ images }),
  createDeepResearch({ research }),
  createGenerateVideo({ video }),
]
