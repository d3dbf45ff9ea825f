import type { CodeService, Documents, ImageService, VideoService } from '../../media'
import type { ResearchService, Web } from '../../research'
import type { Tool } from '../tool'
import { createCodeExecute } from './code-execute'
import { createDeepResearch } from './deep-research'
import { createGenerateCode } from './generate-code'
import { createGenerateDocument } from './generate-document'
import { createGenerateImage } from './generate-image'
import { createGenerateVideo } from './generate-video'
import { createWebFetch } from './web-fetch'
import { createWebSearch } from './web-search'

type Deps = {
  web: Web
  code: Pick<CodeService, 'create'>
  documents: Pick<Documents, 'layOut'>
  images: Pick<ImageService, 'create'>
  research: Pick<ResearchService, 'answer'>
  video: Pick<VideoService, 'start'>
}

/** The system tools of this room; later rooms register theirs. */
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
