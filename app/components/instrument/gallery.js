// The pictures that a model may read in place of a sentence: drawn ones, and those that this visitor brought.

const OWN = "own-"; // begins the names of pictures that visitors brought, as in app/state.py
const LARGEST_FILE = 8 << 20;
const READABLE = ["image/png", "image/jpeg", "image/webp"];

/** The picture at hand; an empty name in the address is the first drawn one. */
function imageName(self) {
  return self.choice.image || self.pictures[0];
}

function imageAddress(self, name) {
  return `${self.api}/picture/${encodeURIComponent(name)}`;
}

/** Shows the chooser in place of the sentence for a model of pictures, and hides it for all others. */
function drawGallery(self) {
  const { gallery, text } = self.parts;
  gallery.hidden = !self.pictures;
  (self.pictures ? gallery : text.closest(".box")).append(self.parts.status);
  text.closest(".box").hidden = self.parts.examples.hidden = Boolean(self.pictures);
  if (!self.pictures) return;
  const chosen = imageName(self);
  if (chosen.startsWith(OWN) && !self.own.includes(chosen)) self.own.push(chosen);
  const names = [...self.pictures, ...self.own];
  if (gallery.dataset.names !== names.join()) {
    gallery.dataset.names = names.join();
    gallery.querySelector(".frames").replaceChildren(...names.map((name) => frame(self, name)));
  }
  for (const button of gallery.querySelectorAll(".frame")) button.setAttribute("aria-pressed", String(button.dataset.name === chosen));
}

function frame(self, name) {
  const button = make("button", "frame");
  button.type = "button";
  button.dataset.name = name;
  const mine = name.startsWith(OWN);
  button.dataset.testid = `picture-${mine ? "own" : name}`;
  const image = make("img");
  image.src = imageAddress(self, name);
  image.alt = mine ? "Your picture" : `Picture: ${name}`;
  image.draggable = false;
  button.title = image.alt;
  button.append(image);
  button.onclick = () => chooseImage(self, name);
  image.onerror = () => {
    self.own = self.own.filter((other) => other !== name); // the server let it go
    button.remove();
  };
  return button;
}

function chooseImage(self, name) {
  change(self, { image: name, locked: [] });
  drawGallery(self);
}

/** A picture goes to the server once, as a file; from then on it has a name that only this visitor can use. */
async function bringPicture(self, file) {
  const { bring } = self.parts;
  bring.disabled = true;
  try {
    if (!READABLE.includes(file.type)) throw new Error("This is no PNG, JPEG or WebP picture.");
    if (file.size > LARGEST_FILE) throw new Error("A picture may have 8 MB; make this one smaller.");
    const answer = await fetch(`${self.api}/picture`, { method: "POST", headers: { "Content-Type": file.type }, body: file });
    const { meta } = unpack(await answer.arrayBuffer());
    if (meta.error) throw new Error(meta.error);
    self.own.push(meta.name);
    chooseImage(self, meta.name);
  } catch (error) {
    showProblem(self, error instanceof TypeError ? "The server does not answer. Is Headlight still running?" : error.message);
  } finally {
    bring.disabled = false;
    bring.value = "";
  }
}

function listenToGallery(self) {
  const { bring, gallery } = self.parts;
  bring.onchange = () => bring.files[0] && bringPicture(self, bring.files[0]);
  gallery.ondragover = (event) => event.preventDefault();
  gallery.ondrop = (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file) bringPicture(self, file);
  };
}
