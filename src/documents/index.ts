/** Documents: text laid out as PDF, DOCX, PPTX, XLSX and CSV, from one model of blocks. */
export { artifactOf, createDocuments, type Documents } from './service'
