// Set type: triangles that lie in an arena from frame to frame, moved by an offset a draw.
//
// The arithmetic is that of egui's own painter, so that a page looks the same whoever
// prints it: texture and colour are multiplied in gamma space, colours are premultiplied,
// and the noise that hides banding is the same interleaved gradient.

struct Screen {
    size_points: vec2<f32>,
    // 1 when the surface is dithered.
    dithering: u32,
    padding: u32,
};

@group(0) @binding(0) var<uniform> screen: Screen;
@group(0) @binding(1) var atlas: texture_2d<f32>;
@group(0) @binding(2) var atlas_sampler: sampler;

struct Ink {
    @builtin(position) position: vec4<f32>,
    @location(0) texel: vec2<f32>,
    // Gamma space, premultiplied, from 0 to 1.
    @location(1) color: vec4<f32>,
};

@vertex
fn vs_type(
    @location(0) pos: vec2<f32>,
    @location(1) texel: vec2<u32>,
    @location(2) color: vec4<f32>,
    // Of the draw: where its origin stands on screen in points, and how opaque it is.
    @location(3) placement: vec3<f32>,
) -> Ink {
    let at = pos + placement.xy;
    var ink: Ink;
    ink.position = vec4<f32>(
        2.0 * at.x / screen.size_points.x - 1.0,
        1.0 - 2.0 * at.y / screen.size_points.y,
        0.0,
        1.0,
    );
    ink.texel = vec2<f32>(texel);
    ink.color = color * placement.z;
    return ink;
}

// Jimenez 2014, interleaved gradient noise.
fn dithered(color: vec4<f32>, at: vec4<f32>) -> vec4<f32> {
    let wave = fract(0.06711056 * at.x + 0.00583715 * at.y);
    // A little less than a whole step, so that flat colours stay flat.
    let noise = (fract(52.9829189 * wave) - 0.5) * 0.95;
    return vec4<f32>(color.rgb + noise / 255.0, color.a);
}

// Texels become texture coordinates as late as this: the atlas may have grown since the
// type was set, and texels stay where they are when it grows.
fn inked(ink: Ink) -> vec4<f32> {
    let uv = ink.texel / vec2<f32>(textureDimensions(atlas));
    let color = ink.color * textureSample(atlas, atlas_sampler, uv);
    if screen.dithering == 1u {
        return dithered(color, ink.position);
    }
    return color;
}

fn linear_from_gamma(gamma: vec3<f32>) -> vec3<f32> {
    let low = gamma / 12.92;
    let high = pow((gamma + 0.055) / 1.055, vec3<f32>(2.4));
    return select(high, low, gamma < vec3<f32>(0.04045));
}

// For surfaces that store what they are given.
@fragment
fn fs_gamma(ink: Ink) -> @location(0) vec4<f32> {
    return inked(ink);
}

// For surfaces that encode linear light themselves.
@fragment
fn fs_linear(ink: Ink) -> @location(0) vec4<f32> {
    let color = inked(ink);
    return vec4<f32>(linear_from_gamma(color.rgb), color.a);
}
