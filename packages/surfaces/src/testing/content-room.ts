export { contentRoom } from '../calls/content-room.ts';
