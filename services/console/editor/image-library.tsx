/** All images of the company, by folder and search. */
import { useEffect, useRef, useState } from "preact/hooks";
import { visual as t } from "../messages/visual.ts";
import { isProblem } from "./ask.ts";
import { useEditor } from "./context.ts";
import { Dialog } from "./dialog.tsx";
import { findImages, type Image, type Library, uploadImage } from "./images.ts";

const TYPING_MS = 250;

interface Props {
  take(image: Image): void;
  onClose(): void;
}

export function ImageLibrary({ take, onClose }: Props) {
  const { boot } = useEditor();
  const [search, setSearch] = useState("");
  const [folder, setFolder] = useState("");
  const [found, setFound] = useState<Library>();
  const [problem, setProblem] = useState("");
  /** Answers to older questions are dropped. */
  const asked = useRef(0);

  const find = async (cursor = "") => {
    const number = ++asked.current;
    const answer = await findImages(boot, { search, folder, cursor });
    if (number !== asked.current) return;
    if (isProblem(answer)) return setProblem(answer.problem);
    setProblem("");
    setFound((before) => ({ ...answer, images: [...(cursor ? before!.images : []), ...answer.images] }));
  };
  useEffect(() => {
    const timer = setTimeout(() => void find(), found ? TYPING_MS : 0);
    return () => clearTimeout(timer);
  }, [search, folder]);

  const upload = async (file: File | undefined) => {
    if (!file) return;
    const made = await uploadImage(boot, file, folder);
    if (isProblem(made)) setProblem(made.problem);
    else take(made);
  };
  const choose = (image: Image) => {
    if (!boot.images.some(({ url }) => url === image.url)) boot.images.push(image);
    take(image);
  };
  return (
    <Dialog title={t.library.title} onClose={onClose}>
      <div class="library-filters">
        <label>
          {t.library.search}
          <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
        {found && found.folders.length > 0 && (
          <label>
            {t.library.folder}
            <select value={folder} onChange={(event) => setFolder(event.currentTarget.value)}>
              <option value="">{t.library.allFolders}</option>
              {found.folders.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          {t.settings.upload}
          <input type="file" accept="image/*" onChange={(event) => void upload(event.currentTarget.files?.[0])} />
        </label>
      </div>
      {problem !== "" && (
        <p class="setting-wrong" role="alert">
          {problem}
        </p>
      )}
      <p class="hint" role="status">
        {found ? t.library.count(found.images.length, found.next !== null) : t.library.loading}
      </p>
      <ul class="library-images">
        {found?.images.map((image) => (
          <li key={image.url}>
            <button type="button" onClick={() => choose(image)}>
              <img src={image.path} alt={image.alt} loading="lazy" />
              <span>{image.filename}</span>
            </button>
          </li>
        ))}
      </ul>
      {found?.next && (
        <button type="button" onClick={() => void find(found.next!)}>
          {t.library.more}
        </button>
      )}
    </Dialog>
  );
}
